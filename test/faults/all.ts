import { FAULTS } from './catalogue.ts';
import { diskFull } from './f18-disk-full.ts';
import { corruption } from './f21-corruption.ts';
import type { Fault, Figures } from './fault.ts';
import { mayMount } from './mounts.ts';
import { SPECIAL_FAULTS } from './special.ts';

const FULL = 2;

/** Those that have a size of their own, small or full, and their own tests beside `npm test`'s. */
const special = SPECIAL_FAULTS.map(
  ({ run, ...about }): Fault => ({
    ...about,
    ...{ small: 1, full: FULL },
    run: (scale, seed) => run(scale >= FULL ? 'full' : 'small', seed),
  }),
);

const fullDisk: Fault = {
  ...{ id: 'F18', title: 'a disk that fills up and is freed again', small: 3, full: 50 },
  missing: () => (mayMount ? null : 'may not mount'),
  async run(scale, seed): Promise<Figures> {
    const { lost, runTwice, unclear, deleted, integrity, ...rest } = await diskFull(scale, seed);
    return {
      ...{ jobs: rest.acknowledged, faults: rest.cycles },
      violations: [
        ...lost.map((what) => ({ kind: 'lost', what })),
        ...runTwice.map((what) => ({ kind: 'twice', what })),
        ...unclear.map((what) => ({ kind: 'unclear', what })),
        ...(integrity === 'ok' ? [] : [{ kind: 'integrity', what: integrity }]),
      ],
      notes: `${rest.refused} refused with a clear line, ${deleted} deleted on the full disk`,
    };
  },
};

const damagedFiles: Fault = {
  ...{ id: 'F21', title: 'damaged database files', small: 60, full: 2000 },
  async run(scale, seed): Promise<Figures> {
    const { crashes, silent, badRepairs, ...rest } = await corruption(scale, seed);
    return {
      ...{ jobs: 0, faults: rest.mutants },
      violations: [
        ...crashes.map((what) => ({ kind: 'crash', what })),
        ...silent.map((what) => ({ kind: 'silent', what })),
        ...badRepairs.map((what) => ({ kind: 'repair', what })),
      ],
      notes: `${rest.detected} told, ${rest.repaired} repaired, ${rest.beyondRepair} beyond repair and said so`,
    };
  },
};

/** Every fault of the catalogue, in the order of its number. */
export const ALL_FAULTS: Fault[] = [...FAULTS, ...special, fullDisk, damagedFiles].sort(
  (a, b) => numberOf(a) - numberOf(b),
);

function numberOf({ id }: Fault): number {
  return Number.parseInt(id.slice(1), 10);
}
