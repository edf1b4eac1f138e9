import { until } from '../support/queuectl.ts';
import { below, pick } from '../support/random.ts';
import { unfinished } from './audit.ts';
import type { Fault } from './fault.ts';
import { lonelyWorker } from './lonely-worker.ts';
import { ADOPTER, freeze, gone, isStopped, QUICK, ready, started } from './moments.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

/** After the claim and before anything of the job runs: who comes too late must find the gate taken. */
const BEFORE_START = [
  'after-claim:1',
  'before-place:1',
  'after-place:1',
  'before-output:1',
  'before-spawn:1',
];
/** The job has ended, and its settlement comes too late. */
const BEFORE_SETTLEMENT = ['before-claim:2'];

/** Until a round is one in which the job changed hands. */
const TRIES = 20;

/** A worker stands still at one of the points, and wakes when its job is another's. */
function frozenAt(points: string[]): Fault['run'] {
  return (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK },
      open: () => async (lab, round) => {
        const id = `j${round}`;
        await lab.enqueue([{ id, command: witnessed(below(lab.random, 300) / 1000) }]);
        const frozen = lonelyWorker(lab, `${pick(lab.random, points)}:stop`);
        await until(() => isStopped(frozen.pid), 'the worker stands still');
        const other = lab.supervisor();
        if (below(lab.random, 2) === 0) await lab.rest();
        else
          await until(() => other.output().includes(`job=${id} attempt=1 queue=default adopted`), 'adopted');
        process.kill(frozen.pid, 'SIGCONT');
        await gone([frozen.pid]);
        await lab.rest();
        await lab.box.json(['worker', 'stop']);
      },
    });
}

export const frozenBeforeStart: Fault = {
  id: 'F7b',
  title: 'A worker is frozen between claiming and starting a job, for longer than its lease',
  small: 6,
  full: 150,
  run: frozenAt(BEFORE_START),
};

export const frozenBeforeSettlement: Fault = {
  id: 'F7c',
  title: 'A worker is frozen just before it records a result, for longer than its lease',
  small: 4,
  full: 150,
  run: frozenAt(BEFORE_SETTLEMENT),
};

/** A worker stands still for longer than its lease, wakes, and finds that its job is another's. */
export const frozenWorker: Fault = {
  id: 'F7',
  title: 'A worker is suspended with SIGSTOP for longer than its lease, then continued',
  small: 8,
  full: 300,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK },
      async open(lab) {
        const adopter = lab.supervisor(ADOPTER);
        const frozen = lab.supervisor();
        await ready(adopter);
        /** False: it was over before the worker stood still, as happens on a busy machine; nothing was taken. */
        const take = async (id: string): Promise<boolean> => {
          await lab.enqueue([{ id, command: witnessed(0.4 + below(lab.random, 2500) / 1000) }]);
          await started(lab, id);
          const pid = await until(() => frozen.workers()[0], 'a worker');
          const readies = frozen.output().split(' ready ').length;
          freeze(lab, pid);
          const adopted = (): boolean =>
            adopter.output().includes(`job=${id} attempt=1 queue=default adopted`);
          await until(() => adopted() || unfinished(lab.database) === 0, 'adopted');
          // Woken before or after the job has been settled by the other.
          if (below(lab.random, 2) === 0) await lab.rest();
          process.kill(pid, 'SIGCONT');
          if (!adopted()) return false;
          await gone([pid]);
          await lab.rest();
          await ready(frozen, readies);
          return true;
        };
        return async (_, round) => {
          for (let i = 0; i < TRIES; i++) if (await take(`j${round}-${i}`)) return;
          throw new Error(`no worker could be frozen in time, ${TRIES} times in a row`);
        };
      },
    }),
};
