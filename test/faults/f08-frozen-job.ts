import { until } from '../support/queuectl.ts';
import { readJobs } from './audit.ts';
import type { Fault } from './fault.ts';
import { groupOf, QUICK, started } from './moments.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

/** A job stands still: its worker keeps it past its lease, and its timeout ends it all the same. */
export const frozenJob: Fault = {
  id: 'F8',
  title: 'All processes of a job are suspended with SIGSTOP, and the timeout still applies',
  small: 4,
  full: 50,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK },
      open(lab) {
        lab.supervisor();
        const other = lab.supervisor(['--queue', 'nothing']);
        return async (_, round) => {
          const id = `j${round}`;
          await lab.enqueue([{ id, command: witnessed(60), timeout_ms: 1500, max_retries: 1 }]);
          const { pid } = await started(lab, id);
          process.kill(-groupOf(pid), 'SIGSTOP');
          await until(
            () => readJobs(lab.database).find((job) => job.id === id)?.state === 'dead',
            'timed out',
          );
          if (other.output().includes('adopted')) throw new Error('the job was taken from its live worker');
        };
      },
    }),
};
