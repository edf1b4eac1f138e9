import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sendSignal, workersOf } from '../support/processes.ts';
import { until } from '../support/queuectl.ts';
import { below } from '../support/random.ts';
import { readJobs } from './audit.ts';
import type { Fault, Figures } from './fault.ts';
import type { Lab, Supervisor } from './lab.ts';
import { QUICK_SETTINGS, untilGone, untilReady, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';

const LONGEST_PAUSE_MS = 300;

type Stop = (lab: Lab, supervisors: Supervisor[]) => Promise<unknown>;

/** Lists ways to stop the workers that adopted the jobs, each with the number of their supervisors. */
const STOPS: [number, Stop][] = [
  [1, async (_, [one]) => process.kill(one!.pid, 'SIGTERM')],
  [1, (lab) => lab.box.run(['worker', 'stop'])],
  [1, async (_, [one]) => process.kill(one!.pid, 'SIGINT')],
  [2, async (_, all) => sendSignal(pidsOf(all), 'SIGTERM')],
  [1, async (_, [one]) => process.kill(-one!.pid, 'SIGTERM')],
  [1, stopByIds],
  [2, (lab) => lab.box.run(['worker', 'stop'])],
  [
    2,
    async (lab, [one, other]) => {
      process.kill(one!.pid, 'SIGTERM');
      await pause(lab);
      process.kill(other!.pid, 'SIGINT');
    },
  ],
  [2, stopByIds],
  [2, async (_, all) => sendSignal([...pidsOf(all), ...all.flatMap((one) => one.workers())], 'SIGTERM')],
];

/** Kills workers, and stops the workers that adopt their jobs. No job may be left without a worker. */
export const stoppedAdopters: Fault = {
  id: 'F48',
  title: 'Workers are killed, and the workers that adopt their jobs are then stopped',
  small: STOPS.length,
  full: 20 * STOPS.length,
  async run(rounds, seed, program) {
    const violations: Figures['violations'] = [];
    const figures = await roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open: () => async (lab, round) => {
        const [supervisorCount, stop] = STOPS[round % STOPS.length]!;
        const jobs = Array.from({ length: 1 + below(lab.random, 3) }, (_, i) => ({
          id: `j${round}-${i}`,
          command: `. ./witness.sh; say S -; until [ -e go${round} ]; do sleep 0.05; done; say E 0`,
        }));
        await lab.enqueue(jobs);
        const randomCount = (): string => String(1 + below(lab.random, 3));
        const first = lab.supervisor(['--count', randomCount()]);
        await untilReady(first);
        await untilStarted(lab, jobs[0]!.id);
        const adopters = await killWorkers(lab, first, supervisorCount, randomCount);
        if (below(lab.random, 2) === 0) await pause(lab);
        const stopping = stop(lab, adopters);
        await pause(lab);
        // The jobs end only when the stop is well under way.
        writeFileSync(join(lab.box.directory, `go${round}`), '');
        await stopping;
        await Promise.all(adopters.map((one) => one.exit));
        const ids = jobs.map(({ id }) => id);
        const unattended = readJobs(lab.database).filter(
          (job) => ids.includes(job.id) && job.state === 'processing',
        );
        for (const { id } of unattended)
          violations.push({ kind: 'left', what: `round ${round}: nobody waits for ${id}` });
        if (unattended.length > 0) await lab.supervisor(['--drain']).exit;
      },
    });
    return { ...figures, violations: [...violations, ...figures.violations] };
  },
};

/** Kills the workers, alone or with their supervisor. Returns the supervisors whose workers adopt the jobs. */
async function killWorkers(
  lab: Lab,
  first: Supervisor,
  supervisorCount: number,
  randomCount: () => string,
): Promise<Supervisor[]> {
  const workers = first.workers();
  const onlyWorkers = below(lab.random, 2) === 0;
  if (onlyWorkers) {
    const nextReadyCount = first.output().split(' ready ').length;
    for (const pid of workers) process.kill(pid, 'SIGKILL');
    // In half of these cases the supervisor may be stopped while it replaces its workers.
    if (below(lab.random, 2) === 0) await untilReady(first, nextReadyCount);
  } else {
    process.kill(-first.pid, 'SIGKILL');
    await untilGone([first.pid, ...workers]);
  }
  const others = Array.from({ length: supervisorCount - (onlyWorkers ? 1 : 0) }, () =>
    lab.supervisor(['--count', randomCount()]),
  );
  await Promise.all(others.map((one) => untilReady(one)));
  return onlyWorkers ? [first, ...others] : others;
}

/** Stops workers by id. A worker that was still starting is found in the next pass. */
async function stopByIds(lab: Lab, all: Supervisor[]): Promise<void> {
  await until(async () => {
    const ids = (await workersOf(lab.box)).map((worker) => worker.id);
    if (ids.length > 0) await lab.box.run(['worker', 'stop', ...ids]);
    return all.every(({ child }) => child.exitCode !== null);
  }, 'all workers were stopped by their ids');
}

function pidsOf(all: Supervisor[]): number[] {
  return all.map((one) => one.pid);
}

function pause(lab: Lab): Promise<void> {
  return new Promise((done) => setTimeout(done, below(lab.random, LONGEST_PAUSE_MS)));
}
