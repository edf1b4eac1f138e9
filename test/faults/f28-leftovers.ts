import { isAlive, sendSignal } from '../support/processes.ts';
import { untilState } from '../support/queuectl.ts';
import type { Fault } from './fault.ts';
import { jobProcessesIn } from './job-processes.ts';
import { roundsInLabs } from './rounds.ts';

/** Lists shell code that starts background processes: in the group of the command, outside it, and both. */
const BACKGROUND_STARTS = ['(sleep 60 &)', '(setsid sleep 60 &)', '(sleep 60 &); (setsid sleep 60 &)'];

/** Leaves processes of a job running with its output open. The job ends with its command, and `show` lists the processes. */
export const leftovers: Fault = {
  id: 'F28',
  title: 'A background process keeps the output open after its parent has ended',
  small: 6,
  full: 50,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program },
      open(lab) {
        lab.supervisor();
        return async (_, round) => {
          const id = `j${round}`;
          const start = BACKGROUND_STARTS[round % BACKGROUND_STARTS.length]!;
          const count = start.split(';').length;
          await lab.enqueue([{ id, command: `. ./witness.sh; say S -; ${start}; say E 0` }]);
          await untilState(lab.box, id, 'completed', 30_000);
          const { history } = await lab.box.json<{ history: { left_behind: number[] }[] }>(['show', id]);
          const listedPids = history[0]!.left_behind;
          const found = jobProcessesIn(lab.box.home).filter((one) => one.job === id);
          if (found.length !== count) throw new Error(`${id}: ${found.length} of ${count} leftovers live`);
          if (!found.every((one) => listedPids.includes(one.pid)))
            throw new Error(`${id}: show names ${listedPids}, there are ${found.map((one) => one.pid)}`);
          sendSignal(found.map((one) => one.pid).filter(isAlive), 'SIGKILL');
        };
      },
    }),
};
