import { until } from '../support/queuectl.ts';
import { readJobs } from './audit.ts';
import type { Fault } from './fault.ts';
import { ADOPT_ONLY, groupOf, QUICK_SETTINGS, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

/** Suspends a job for longer than a lease. Its worker keeps it, and its timeout still ends it. */
export const frozenJob: Fault = {
  id: 'F8',
  title: 'All processes of a job are suspended with SIGSTOP, and the timeout still applies',
  small: 4,
  full: 50,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open(lab) {
        lab.supervisor();
        const adopter = lab.supervisor(ADOPT_ONLY);
        return async (_, round) => {
          const id = `j${round}`;
          await lab.enqueue([{ id, command: witnessed(60), timeout_ms: 1500, max_retries: 1 }]);
          const { pid } = await untilStarted(lab, id);
          process.kill(-groupOf(pid), 'SIGSTOP');
          await until(
            () => readJobs(lab.database).find((job) => job.id === id)?.state === 'dead',
            'timed out',
          );
          if (adopter.output().includes('adopted')) throw new Error('the job was taken from its live worker');
        };
      },
    }),
};
