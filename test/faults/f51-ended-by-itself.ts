import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/queuectl.ts';
import { below } from '../support/random.ts';
import { countEndRequests, countUnfinished, readJobs } from './audit.ts';
import type { Fault, Figures } from './fault.ts';
import type { Lab } from './lab.ts';
import { freeze, untilReady } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { readWitness, witnessed } from './witness.ts';

const JOBS = 8;
/** This is long enough for a slow machine to start all jobs of a round and freeze their worker. */
const TIMEOUT_MS = 5000;
/** The lease is so long that a frozen worker keeps its jobs. */
const SETTINGS = { 'kill-grace': '1s', lease: '1h' };

function haveEnded(lab: Lab, ids: string[]): boolean {
  const over = new Set(
    readWitness(lab.box.directory)
      .filter(({ what }) => what === 'E')
      .map(({ job }) => job),
  );
  return ids.every((id) => over.has(id));
}

/**
 * Freezes a worker until its jobs have ended by themselves, half of them successfully, and `requestEnd` has requested
 * their end. The function that `requestEnd` returns waits for the answers and returns the wrong ones.
 */
function frozenDuringEnd(
  requestEnd: (lab: Lab, ids: string[]) => Promise<() => Promise<string[]>>,
  expected: { succeeded: string; failed: string; maxRetries: number },
): Fault['run'] {
  return async (rounds, seed, program): Promise<Figures> => {
    const wrong: Figures['violations'] = [];
    const figures = await roundsInLabs({
      ...{ rounds, seed, program, settings: SETTINGS },
      open: () => async (lab, round) => {
        const goFile = `go-${round}`;
        const jobs = Array.from({ length: JOBS }, (_, i) => ({
          ...{ id: `j${round}-${i}`, max_retries: expected.maxRetries, timeout_ms: TIMEOUT_MS },
          command: `: > begun-${round}-${i}; until test -e ${goFile}; do sleep 0.02; done; ${witnessed(0, i % 2 === 0 ? 0 : 3)}`,
        }));
        const ids = jobs.map(({ id }) => id);
        const supervisor = lab.supervisor(['--concurrency', String(JOBS)]);
        await untilReady(supervisor);
        await lab.enqueue(jobs);
        const hasBegun = (i: number): boolean => existsSync(join(lab.box.directory, `begun-${round}-${i}`));
        await until(() => ids.every((_, i) => hasBegun(i)), 'every job has begun');
        const [worker] = supervisor.workers();
        freeze(lab, worker!);
        writeFileSync(join(lab.box.directory, goFile), '');
        await until(() => haveEnded(lab, ids), 'every job has ended by itself');
        const wrongAnswers = await requestEnd(lab, ids);
        process.kill(worker!, 'SIGCONT');
        wrong.push(...(await wrongAnswers()).map((what) => ({ kind: 'answer', what })));
        await until(() => countUnfinished(lab.database) === 0, 'every job is settled');
        process.kill(supervisor.pid, 'SIGTERM');
        await supervisor.exit;
        for (const [i, id] of ids.entries()) {
          const job = readJobs(lab.database).find((one) => one.id === id)!;
          const state = i % 2 === 0 ? expected.succeeded : expected.failed;
          const results = i % 2 === 0 ? 'exited 0' : 'exited 3';
          if (job.state !== state || job.results !== results)
            wrong.push({
              kind: 'misjudged',
              what: `${id} is ${job.state} (${job.results}), not ${state} (${results})`,
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
  run: frozenDuringEnd(
    async () => {
      // All jobs have started by now, so their deadlines have passed after another TIMEOUT_MS.
      const start = performance.now();
      await until(() => performance.now() - start > TIMEOUT_MS, 'the deadlines have passed');
      return async () => [];
    },
    { succeeded: 'completed', failed: 'dead', maxRetries: 1 },
  ),
};

const SLOTS = 16;
const STOPS_PER_ROUND = 3;

/**
 * Returns a short command that ignores SIGTERM before it records its start and end. Once it has recorded them, it exits
 * with 0 even after SIGTERM. So a second record means that a successful command was repeated.
 */
const shortCommand = (ms: number): string => `sleep ${ms / 1000}; trap '' TERM; ${witnessed(0)}`;

export const endedBeforeForce: Fault = {
  id: 'F51b',
  title: '`worker stop --force` while many short jobs end',
  small: 4,
  full: 200,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: { 'kill-grace': '5s' } },
      open: () => async (lab, round) => {
        for (let stop = 0; stop < STOPS_PER_ROUND; stop++) {
          const jobs = Array.from({ length: 3 * SLOTS }, (_, i) => ({
            ...{ id: `j${round}-${stop}-${i}`, max_retries: 1 },
            command: shortCommand(below(lab.random, 90)),
          }));
          const supervisor = lab.supervisor(['--concurrency', String(SLOTS)]);
          await untilReady(supervisor);
          await lab.enqueue(jobs);
          await until(
            () => readWitness(lab.box.directory).some(({ job }) => job.startsWith(`j${round}-${stop}-`)),
            'one job has started',
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
  run: frozenDuringEnd(
    async (lab, ids) => {
      const cancels = ids.map((id) => lab.box.run(['cancel', id]));
      await until(
        () => countEndRequests(lab.database) === ids.length,
        'the cancel requests are in the store',
      );
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
