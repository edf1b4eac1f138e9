import { rmSync } from 'node:fs';
import type { Fault } from './fault.ts';
import { QUICK, ready, started } from './moments.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

const REMOVED = [['-wal'], ['-shm'], ['-wal', '-shm']];
const AFTERWARDS = 3;

/** The files are removed while jobs run: what was acknowledged before and after that is there, and runs once. */
export const removedFiles: Fault = {
  id: 'F52',
  title: 'The `-wal` or `-shm` file is removed while workers run',
  small: 6,
  full: 50,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK },
      async open(lab) {
        await ready(lab.supervisor(['--count', '2']), 2);
        return async (_, round) => {
          const id = `j${round}`;
          await lab.enqueue([{ id, command: witnessed(0.5) }]);
          await started(lab, id);
          for (const end of REMOVED[round % REMOVED.length]!) rmSync(lab.database + end, { force: true });
          for (let i = 0; i < AFTERWARDS; i++)
            await lab.enqueue([{ id: `${id}-${i}`, command: witnessed(0.1) }]);
        };
      },
    }),
};
