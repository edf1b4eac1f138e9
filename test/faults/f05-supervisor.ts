import { below } from '../support/random.ts';
import type { Fault } from './fault.ts';
import { gone, QUICK, ready, started } from './moments.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

/** After their supervisor's death workers finish what runs, and go. */
const NOTICE_MS = 2000;
const LONGEST_JOB_MS = 800;

/** SIGKILL to a supervisor alone, or to it and all its workers; then another start. */
export const supervisorKilled: Fault = {
  id: 'F5',
  title: 'A supervisor is killed, alone or with all its workers, and started again',
  small: 8,
  full: 100,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK },
      open: () => async (lab, round) => {
        const jobs = Array.from({ length: 4 }, (_, i) => ({
          id: `j${round}-${i}`,
          command: witnessed(below(lab.random, LONGEST_JOB_MS) / 1000),
        }));
        await lab.enqueue(jobs);
        const supervisor = lab.supervisor(['--count', '2']);
        await ready(supervisor, 2);
        await started(lab, jobs[0]!.id);
        const workers = supervisor.workers();
        const alone = round % 2 === 0;
        process.kill(supervisor.pid, 'SIGKILL');
        if (!alone) for (const pid of workers) process.kill(pid, 'SIGKILL');
        // On two busy cores everything takes longer: what is bounded is that they go, without being told to.
        if (alone) await gone(workers, 10 * (NOTICE_MS + LONGEST_JOB_MS));
        const next = lab.supervisor(['--drain', '--count', '2']);
        await next.exit;
      },
    }),
};
