import { below } from '../support/random.ts';
import type { Fault } from './fault.ts';
import { QUICK_SETTINGS, untilGone, untilReady, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

/** Workers notice the death of their supervisor within this time. Then they finish their jobs and exit. */
const NOTICE_MS = 2000;
const LONGEST_JOB_MS = 800;

/** Kills a supervisor alone or with all its workers, and then starts another one. */
export const supervisorKilled: Fault = {
  id: 'F5',
  title: 'A supervisor is killed, alone or with all its workers, and started again',
  small: 8,
  full: 100,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open: () => async (lab, round) => {
        const jobs = Array.from({ length: 4 }, (_, i) => ({
          id: `j${round}-${i}`,
          command: witnessed(below(lab.random, LONGEST_JOB_MS) / 1000),
        }));
        await lab.enqueue(jobs);
        const supervisor = lab.supervisor(['--count', '2']);
        await untilReady(supervisor, 2);
        await untilStarted(lab, jobs[0]!.id);
        const workers = supervisor.workers();
        const isAlone = round % 2 === 0;
        process.kill(supervisor.pid, 'SIGKILL');
        if (!isAlone) for (const pid of workers) process.kill(pid, 'SIGKILL');
        // Everything takes longer on two busy cores. The limit only shows that the workers exit by themselves.
        if (isAlone) await untilGone(workers, 10 * (NOTICE_MS + LONGEST_JOB_MS));
        const next = lab.supervisor(['--drain', '--count', '2']);
        await next.exit;
      },
    }),
};
