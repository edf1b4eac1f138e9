import type { Fault } from './fault.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

const STARTS = 20;
const JOBS = 40;

/** Runs many `worker start` commands at the same moment. All of them must exit with 0. */
export const manyStarts: Fault = {
  id: 'F6',
  title: `${STARTS} worker start commands at once`,
  small: 1,
  full: 100,
  run: async (rounds, seed, program) => {
    const figures = await roundsInLabs({
      ...{ rounds, seed, program },
      open: () => async (lab, round) => {
        await lab.enqueue(
          Array.from({ length: JOBS }, (_, i) => ({ id: `j${round}-${i}`, command: witnessed(0) })),
        );
        const starts = Array.from({ length: STARTS }, () => lab.supervisor(['--drain']));
        const codes = await Promise.all(starts.map((one) => one.exit));
        if (codes.some((code) => code !== 0)) throw new Error(`exit codes ${codes.join(' ')}`);
      },
    });
    return { ...figures, faults: rounds * STARTS };
  },
};
