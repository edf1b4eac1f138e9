import { isAlive, send } from '../support/processes.ts';
import { untilState } from '../support/queuectl.ts';
import type { Fault } from './fault.ts';
import { orphansOf } from './orphans.ts';
import { roundsInLabs } from './rounds.ts';

const LEAVES = '. ./witness.sh; say S -; (sleep 60 &); (setsid sleep 60 &); say E 0';

/** A success that leaves processes behind, its output still open in them, ends when its command does. */
export const leftovers: Fault = {
  id: 'F28',
  title: 'a grandchild keeps the output open after its parent ended',
  small: 4,
  full: 50,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program },
      open(lab) {
        lab.supervisor();
        return async (_, round) => {
          const id = `j${round}`;
          await lab.enqueue([{ id, command: LEAVES }]);
          await untilState(lab.box, id, 'completed', 30_000);
          const { history } = await lab.box.json<{ history: { left_behind: number[] }[] }>(['show', id]);
          const named = history[0]!.left_behind;
          const left = orphansOf(lab.box.home).filter((one) => one.job === id);
          if (left.length !== 2) throw new Error(`${id}: ${left.length} of 2 leftovers live`);
          if (!left.every((one) => named.includes(one.pid)))
            throw new Error(`${id}: show names ${named}, there are ${left.map((one) => one.pid)}`);
          send(left.map((one) => one.pid).filter(isAlive), 'SIGKILL');
        };
      },
    }),
};
