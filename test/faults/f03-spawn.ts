import { below } from '../support/random.ts';
import { readJobs, unfinished } from './audit.ts';
import type { Fault } from './fault.ts';
import { ADOPT_ONLY, QUICK } from './moments.ts';
import { roundsInLabs } from './rounds.ts';
import { unsupervisedWorker } from './unsupervised-worker.ts';
import { witnessed } from './witness.ts';

/** Kills a worker at the crash point in each round, and lets another worker adopt its job. */
function orphanRounds(point: string, longestMs: number): Fault['run'] {
  return (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK },
      open(lab) {
        lab.supervisor(ADOPT_ONLY);
        return async (_, round) => {
          const command = witnessed(below(lab.random, longestMs) / 1000);
          await lab.enqueue([{ id: `j${round}`, command }]);
          await unsupervisedWorker(lab, point).exit;
          const held = (): boolean => readJobs(lab.database).some((job) => job.state === 'processing');
          await lab.waitForJobs(() => !held());
          // A job that was requeued instead of settled runs again, which the witness shows.
          if (unfinished(lab.database) > 0 && !held()) await lab.supervisor(['--drain']).exit;
        };
      },
    });
}

/** The worker dies after it started the job and before it recorded that. The job is found by its cookie. */
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
