import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { send, workersOf } from '../support/processes.ts';
import { until } from '../support/queuectl.ts';
import { below } from '../support/random.ts';
import { readJobs } from './audit.ts';
import type { Fault, Figures } from './fault.ts';
import type { Lab, Supervisor } from './lab.ts';
import { gone, QUICK, ready, started } from './moments.ts';
import { roundsInLabs } from './rounds.ts';

const LONGEST_PAUSE_MS = 300;

type Stop = (lab: Lab, supervisors: Supervisor[]) => Promise<unknown>;

/** How the workers that adopted the jobs are stopped, and by how many supervisors they were started. */
const STOPS: [number, Stop][] = [
  [1, async (_, [one]) => process.kill(one!.pid, 'SIGTERM')],
  [1, (lab) => lab.box.run(['worker', 'stop'])],
  [1, async (_, [one]) => process.kill(one!.pid, 'SIGINT')],
  [2, async (_, all) => send(pidsOf(all), 'SIGTERM')],
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
  [2, async (_, all) => send([...pidsOf(all), ...all.flatMap((one) => one.workers())], 'SIGTERM')],
];

/** Workers are killed, others adopt their jobs, and are stopped: no job is left without a worker. */
export const stoppedAdopters: Fault = {
  id: 'F48',
  title: 'Workers are killed, and the workers that adopt their jobs are then stopped',
  small: STOPS.length,
  full: 20 * STOPS.length,
  async run(rounds, seed, program) {
    const left: Figures['violations'] = [];
    const figures = await roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK },
      open: () => async (lab, round) => {
        const [supervisors, stop] = STOPS[round % STOPS.length]!;
        const jobs = Array.from({ length: 1 + below(lab.random, 3) }, (_, i) => ({
          id: `j${round}-${i}`,
          command: `. ./witness.sh; say S -; until [ -e go${round} ]; do sleep 0.05; done; say E 0`,
        }));
        await lab.enqueue(jobs);
        const count = (): string => String(1 + below(lab.random, 3));
        const first = lab.supervisor(['--count', count()]);
        await ready(first);
        await started(lab, jobs[0]!.id);
        const adopters = await killed(lab, first, supervisors, count);
        if (below(lab.random, 2) === 0) await pause(lab);
        const stopping = stop(lab, adopters);
        await pause(lab);
        // The jobs end when the stop is well under way, and not before.
        writeFileSync(join(lab.box.directory, `go${round}`), '');
        await stopping;
        await Promise.all(adopters.map((one) => one.exit));
        const names = jobs.map(({ id }) => id);
        const unattended = readJobs(lab.database).filter(
          (job) => names.includes(job.id) && job.state === 'processing',
        );
        for (const { id } of unattended)
          left.push({ kind: 'left', what: `round ${round}: nobody waits for ${id}` });
        if (unattended.length > 0) await lab.supervisor(['--drain']).exit;
      },
    });
    return { ...figures, violations: [...left, ...figures.violations] };
  },
};

/** Kills the workers, alone or with their supervisor. Returns the supervisors whose workers adopt the jobs. */
async function killed(
  lab: Lab,
  first: Supervisor,
  supervisors: number,
  count: () => string,
): Promise<Supervisor[]> {
  const workers = first.workers();
  const alone = below(lab.random, 2) === 0;
  if (alone) {
    const readies = first.output().split(' ready ').length;
    for (const pid of workers) process.kill(pid, 'SIGKILL');
    // Half of the rounds stop the supervisor while it replaces them.
    if (below(lab.random, 2) === 0) await ready(first, readies);
  } else {
    process.kill(-first.pid, 'SIGKILL');
    await gone([first.pid, ...workers]);
  }
  const others = Array.from({ length: supervisors - (alone ? 1 : 0) }, () =>
    lab.supervisor(['--count', count()]),
  );
  await Promise.all(others.map((one) => ready(one)));
  return alone ? [first, ...others] : others;
}

/** One that was only starting when the others were stopped is stopped with the next look. */
async function stopByIds(lab: Lab, all: Supervisor[]): Promise<void> {
  const over = (): boolean => all.every(({ child }) => child.exitCode !== null);
  await until(async () => {
    const ids = (await workersOf(lab.box)).map((worker) => worker.id);
    if (ids.length > 0) await lab.box.run(['worker', 'stop', ...ids]);
    return over();
  }, 'all workers were stopped by their ids');
}

function pidsOf(all: Supervisor[]): number[] {
  return all.map((one) => one.pid);
}

function pause(lab: Lab): Promise<void> {
  return new Promise((done) => setTimeout(done, below(lab.random, LONGEST_PAUSE_MS)));
}
