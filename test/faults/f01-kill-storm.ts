import { below, pick } from '../support/random.ts';
import { countUnfinished } from './audit.ts';
import type { Fault } from './fault.ts';
import { inLab, type Lab } from './lab.ts';
import { roundDone, startProgress } from './progress.ts';
import { witnessed } from './witness.ts';

const JOBS_PER_KILL = 20;
const WORKERS = 8;
const SUPERVISORS = 2;
/** One kill in this many hits a supervisor. Its workers finish and exit, and another supervisor is started. */
const KILLS_PER_SUPERVISOR_KILL = 10;

/** Kills random workers and supervisors with SIGKILL while the queue has jobs. */
export const killStorm: Fault = {
  id: 'F1',
  title: 'Random SIGKILLs of workers and supervisors',
  small: 15,
  full: 500,
  run: (kills, seed, program) =>
    inLab(
      seed,
      async (lab) => {
        const jobs = kills * JOBS_PER_KILL;
        await lab.enqueue(
          Array.from({ length: jobs }, (_, i) => ({
            id: `j${i}`,
            command: witnessed(below(lab.random, 200) / 1000),
          })),
        );
        const start = () => lab.supervisor(['--count', String(WORKERS / SUPERVISORS)]);
        for (let i = 0; i < SUPERVISORS; i++) start();
        let killed = 0;
        startProgress(kills);
        while (killed < kills) {
          await new Promise((done) => setTimeout(done, 50 + below(lab.random, 450)));
          if (killOne(lab, killed)) {
            killed++;
            roundDone();
          }
          while (lab.supervisors().length < SUPERVISORS) start();
          if (countUnfinished(lab.database) === 0) await lab.enqueue(furtherJobs(killed));
        }
        await lab.waitForJobs();
        return { jobs: lab.enqueued.length, faults: killed, violations: await lab.judge() };
      },
      program,
    ),
};

/** Returns more jobs for a queue that has become empty before the last kill. */
function furtherJobs(killed: number): { id: string; command: string }[] {
  return Array.from({ length: JOBS_PER_KILL }, (_, i) => ({
    id: `k${killed}-${i}`,
    command: witnessed(0.05),
  }));
}

/** Kills a random worker or supervisor. Returns false if there was none. `killed` is the number of earlier kills. */
function killOne(lab: Lab, killed: number): boolean {
  const supervisors = lab.supervisors();
  const workers = supervisors.flatMap((one) => one.workers());
  const victims =
    (killed + 1) % KILLS_PER_SUPERVISOR_KILL === 0 ? supervisors.map((one) => one.pid) : workers;
  if (victims.length === 0) return false;
  process.kill(pick(lab.random, victims), 'SIGKILL');
  return true;
}
