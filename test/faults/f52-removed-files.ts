import { rmSync } from 'node:fs';
import type { Fault } from './fault.ts';
import { QUICK_SETTINGS, untilReady, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

const REMOVED_SUFFIXES = [['-wal'], ['-shm'], ['-wal', '-shm']];
const LATER_JOBS = 3;

/** Removes files of the store while jobs run. All acknowledged jobs must stay and run once. */
export const removedFiles: Fault = {
  id: 'F52',
  title: 'The `-wal` or `-shm` file is removed while workers run',
  small: 6,
  full: 50,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      async open(lab) {
        await untilReady(lab.supervisor(['--count', '2']), 2);
        return async (_, round) => {
          const id = `j${round}`;
          await lab.enqueue([{ id, command: witnessed(0.5) }]);
          await untilStarted(lab, id);
          for (const suffix of REMOVED_SUFFIXES[round % REMOVED_SUFFIXES.length]!)
            rmSync(lab.database + suffix, { force: true });
          for (let i = 0; i < LATER_JOBS; i++)
            await lab.enqueue([{ id: `${id}-${i}`, command: witnessed(0.1) }]);
        };
      },
    }),
};
