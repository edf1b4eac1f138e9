import { below } from '../support/random.ts';
import { readJobs, unfinished } from './audit.ts';
import type { Fault } from './fault.ts';
import { lonelyWorker } from './lonely-worker.ts';
import { ADOPTER, QUICK } from './moments.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

/** A worker that dies at the point, round after round, and another one that takes its job over. */
function orphanRounds(point: string, longestMs: number): Fault['run'] {
  return (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK },
      open(lab) {
        lab.supervisor(ADOPTER);
        return async (_, round) => {
          const command = witnessed(below(lab.random, longestMs) / 1000);
          await lab.enqueue([{ id: `j${round}`, command }]);
          await lonelyWorker(lab, point).exit;
          const held = (): boolean => readJobs(lab.database).some((job) => job.state === 'processing');
          await lab.rest(() => !held());
          // Put back instead of settled: then it runs again, and the witness tells.
          if (unfinished(lab.database) > 0 && !held()) await lab.supervisor(['--drain']).exit;
        };
      },
    });
}

/** The job runs, and nobody has written down as what: it is found by its cookie and adopted. */
export const killedAfterSpawn: Fault = {
  id: 'F3',
  title: 'A worker is killed between starting a command and recording the start',
  small: 8,
  full: 200,
  run: orphanRounds('after-spawn', 800),
};

/** The job has ended, and nobody has settled it: its record tells how, and it is not run again. */
export const killedAfterExit: Fault = {
  id: 'F4',
  title: 'A worker is killed after a job ends and before its result is recorded',
  small: 8,
  full: 200,
  run: orphanRounds('after-exit', 100),
};
