import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/queuectl.ts';
import { below } from '../support/random.ts';
import { askedToEnd, readJobs, unfinished } from './audit.ts';
import type { Fault, Figures } from './fault.ts';
import type { Lab } from './lab.ts';
import { freeze, ready } from './moments.ts';
import { roundsInLabs } from './rounds.ts';
import { readWitness, witnessed } from './witness.ts';

const JOBS = 8;
/** Long enough for a slow machine to start all jobs of a round and freeze their worker within it. */
const TIMEOUT_MS = 5000;
/** A frozen worker keeps its jobs: nobody else lives who could take them over. */
const SETTINGS = { 'kill-grace': '1s', lease: '1h' };

function ended(lab: Lab, ids: string[]): boolean {
  const over = new Set(
    readWitness(lab.box.directory)
      .filter(({ what }) => what === 'E')
      .map(({ job }) => job),
  );
  return ids.every((id) => over.has(id));
}

/**
 * A worker stands still from before the end of its jobs until after it, and `meanwhile` something asks for their end. Half of
 * them succeed, half of them fail by themselves.
 */
function overTheEnd(
  meanwhile: (lab: Lab, ids: string[]) => Promise<() => Promise<string[]>>,
  expected: { succeeded: string; failed: string; maxRetries: number },
): Fault['run'] {
  return async (rounds, seed, program): Promise<Figures> => {
    const wrong: Figures['violations'] = [];
    const figures = await roundsInLabs({
      ...{ rounds, seed, program, settings: SETTINGS },
      open: () => async (lab, round) => {
        const go = `go-${round}`;
        const jobs = Array.from({ length: JOBS }, (_, i) => ({
          ...{ id: `j${round}-${i}`, max_retries: expected.maxRetries, timeout_ms: TIMEOUT_MS },
          command: `: > begun-${round}-${i}; until test -e ${go}; do sleep 0.02; done; ${witnessed(0, i % 2 === 0 ? 0 : 3)}`,
        }));
        const ids = jobs.map(({ id }) => id);
        const supervisor = lab.supervisor(['--concurrency', String(JOBS)]);
        await ready(supervisor);
        await lab.enqueue(jobs);
        const begun = (i: number): boolean => existsSync(join(lab.box.directory, `begun-${round}-${i}`));
        await until(() => ids.every((_, i) => begun(i)), 'every job has begun');
        const [worker] = supervisor.workers();
        freeze(lab, worker!);
        writeFileSync(join(lab.box.directory, go), '');
        await until(() => ended(lab, ids), 'every job has ended by itself');
        const finish = await meanwhile(lab, ids);
        process.kill(worker!, 'SIGCONT');
        wrong.push(...(await finish()).map((what) => ({ kind: 'answer', what })));
        await until(() => unfinished(lab.database) === 0, 'every job is settled');
        process.kill(supervisor.pid, 'SIGTERM');
        await supervisor.exit;
        for (const [i, id] of ids.entries()) {
          const job = readJobs(lab.database).find((one) => one.id === id)!;
          const state = i % 2 === 0 ? expected.succeeded : expected.failed;
          const ends = i % 2 === 0 ? 'exited 0' : 'exited 3';
          if (job.state !== state || job.ends !== ends)
            wrong.push({
              kind: 'misjudged',
              what: `${id} is ${job.state} (${job.ends}), not ${state} (${ends})`,
            });
        }
      },
    });
    return { ...figures, violations: [...figures.violations, ...wrong] };
  };
}

export const endedBeforeTimeout: Fault = {
  id: 'F51',
  title: 'A worker is frozen while its jobs end and their timeouts pass',
  small: 4,
  full: 200,
  run: overTheEnd(
    async () => {
      // The deadlines have passed for certain when as much time has, counted from after the start of the last job.
      const start = performance.now();
      await until(() => performance.now() - start > TIMEOUT_MS, 'the deadlines have passed');
      return async () => [];
    },
    { succeeded: 'completed', failed: 'dead', maxRetries: 1 },
  ),
};

const SLOTS = 16;
const STOPS = 3;

/**
 * Short commands that ignore SIGTERM from just before their last line on: one that wrote that line exits with 0, whatever
 * signal comes. So a line twice is a command that was repeated although it had reported success.
 */
const SHORT = (ms: number): string => `sleep ${ms / 1000}; trap '' TERM; ${witnessed(0)}`;

export const endedBeforeForce: Fault = {
  id: 'F51b',
  title: '`worker stop --force` while many short jobs end',
  small: 4,
  full: 200,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: { 'kill-grace': '5s' } },
      open: () => async (lab, round) => {
        for (let stop = 0; stop < STOPS; stop++) {
          const jobs = Array.from({ length: 3 * SLOTS }, (_, i) => ({
            ...{ id: `j${round}-${stop}-${i}`, max_retries: 1 },
            command: SHORT(below(lab.random, 90)),
          }));
          const supervisor = lab.supervisor(['--concurrency', String(SLOTS)]);
          await ready(supervisor);
          await lab.enqueue(jobs);
          await until(
            () => readWitness(lab.box.directory).some(({ job }) => job.startsWith(`j${round}-${stop}-`)),
            'one has run',
          );
          await lab.box.json(['worker', 'stop', '--force']);
          await supervisor.exit;
        }
        await lab.supervisor(['--drain', '--concurrency', String(SLOTS)]).exit;
      },
    }),
};

export const endedBeforeCancel: Fault = {
  id: 'F51c',
  title: '`cancel` after a job ends and before its result is recorded',
  small: 4,
  full: 200,
  run: overTheEnd(
    async (lab, ids) => {
      const cancels = ids.map((id) => lab.box.run(['cancel', id]));
      await until(() => askedToEnd(lab.database) === ids.length, 'the wishes to cancel are in the store');
      return async () =>
        (await Promise.all(cancels)).flatMap(({ code, stdout, stderr }, i) =>
          code === (i % 2 === 0 ? 4 : 0)
            ? []
            : [`cancel of ${ids[i]} exited with ${code}: ${stdout}${stderr}`],
        );
    },
    { succeeded: 'completed', failed: 'cancelled', maxRetries: 3 },
  ),
};
