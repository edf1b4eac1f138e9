import { until } from '../support/queuectl.ts';
import { readJobs } from './audit.ts';
import type { Fault } from './fault.ts';
import { QUICK_SETTINGS, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';

const FOREVER = 'while :; do sleep 0.1; done';

/** Lists commands that resist being ended. */
const STUBBORN_COMMANDS: Record<string, string> = {
  'ignores SIGTERM': `trap '' TERM INT HUP; ${FOREVER}`,
  'forks on SIGTERM': `trap 'sleep 60 & sleep 60 &' TERM; ${FOREVER}`,
  nohup: `nohup sleep 60 >/dev/null 2>&1 & ${FOREVER}`,
  setsid: `setsid sleep 60 & ${FOREVER}`,
  daemon: `(setsid sh -c 'sleep 60 & setsid sleep 60 & exit' &); ${FOREVER}`,
  'hops from process to process': `setsid sh -c 'hop() { sleep 0.02; hop & }; hop & wait' & ${FOREVER}`,
  'stops itself': 'kill -STOP $$; sleep 60',
  'many children': `i=0; while [ $i -lt 40 ]; do setsid sleep 60 & i=$((i+1)); done; ${FOREVER}`,
};
const KINDS = Object.keys(STUBBORN_COMMANDS);

/** Ends stubborn jobs by a timeout or a cancel. No process may be left when the job has ended. */
export const stubbornJobs: Fault = {
  id: 'F27',
  title: 'Jobs that ignore SIGTERM, fork, daemonize or leave their session',
  small: KINDS.length,
  full: 100 * KINDS.length,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open(lab) {
        lab.supervisor();
        return async (_, round) => {
          const id = `j${round}`;
          const kind = KINDS[round % KINDS.length]!;
          const isCancelled = Math.floor(round / KINDS.length) % 2 === 1;
          const command = `. ./witness.sh; say S -; ${STUBBORN_COMMANDS[kind]}`;
          await lab.enqueue([{ id, command, max_retries: 1, ...(isCancelled ? {} : { timeout_ms: 400 }) }]);
          await untilStarted(lab, id);
          if (isCancelled) await lab.box.json(['cancel', id]);
          const hasEnded = (): boolean =>
            ['dead', 'cancelled'].includes(readJobs(lab.database).find((job) => job.id === id)!.state);
          await until(hasEnded, `${kind}: the job has ended`, 30_000);
        };
      },
    }),
};
