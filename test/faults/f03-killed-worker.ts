import { below } from '../support/random.ts';
import { countUnfinished, readJobs } from './audit.ts';
import type { Fault } from './fault.ts';
import { ADOPT_ONLY, QUICK_SETTINGS } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { unsupervisedWorker } from './unsupervised-worker.ts';
import { witnessed } from './witness.ts';

/** Kills a worker at the crash point in each round, and lets another worker adopt its job. */
function orphanRounds(point: string, longestJobMs: number): Fault['run'] {
  return (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open(lab) {
        lab.supervisor(ADOPT_ONLY);
        return async (_, round) => {
          const command = witnessed(below(lab.random, longestJobMs) / 1000);
          await lab.enqueue([{ id: `j${round}`, command }]);
          await unsupervisedWorker(lab, point).exit;
          const isClaimed = (): boolean => readJobs(lab.database).some((job) => job.state === 'processing');
          await lab.waitForJobs(() => !isClaimed());
          // A job that was requeued instead of settled runs again, which the witness shows.
          if (countUnfinished(lab.database) > 0 && !isClaimed()) await lab.supervisor(['--drain']).exit;
        };
      },
    });
}

/** The worker dies right after it started the job. Recovery finds the job by its record and its cookie. */
export const killedAfterSpawn: Fault = {
  id: 'F3',
  title: 'A worker is killed between starting a command and recording the start',
  small: 8,
  full: 200,
  run: orphanRounds('after-spawn', 800),
};

/** The worker dies after the job ended and before it is settled. Its exit code is on record, so it must not run again. */
export const killedAfterExit: Fault = {
  id: 'F4',
  title: 'A worker is killed after a job ends and before its result is recorded',
  small: 8,
  full: 200,
  run: orphanRounds('after-exit', 100),
};
