import { until } from '../support/queuectl.ts';
import type { Fault } from './fault.ts';
import { ADOPT_ONLY, QUICK_SETTINGS } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

/** Lists crash points at which an unexpected error is thrown: in a loop, in an event handler, before and after a commit. */
const THROWING_POINTS = [
  ...[
    'before-register:1',
    'after-register:1',
    'before-beat:2',
    'after-beat:2',
    'in-claim:2',
    'after-claim:1',
  ],
  ...['before-claim:2', 'after-exit:1', 'before-touch:1', 'before-remove-place:1', 'before-unregister:1'],
  ...['in-unregister:1', 'after-unregister:1'],
];
/** Lists crash points at which the worker blocks its event loop for three leases. */
const BLOCKING_POINTS = ['after-spawn:1', 'after-beat:1', 'before-claim:2', 'after-claim:1'];
const JOBS = 3;

/** Makes a worker throw or block at a crash point. Its running commands continue, and every job must be settled. */
function brokenWorker(points: string[], crash: 'throw' | 'block'): Fault['run'] {
  return (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open(lab) {
        lab.supervisor(ADOPT_ONLY);
        return async (_, round) => {
          const env = { QUEUECTL_CRASH_AT: `${points[round % points.length]}:${crash}` };
          await lab.enqueue(
            Array.from({ length: JOBS }, (_, i) => ({ id: `j${round}-${i}`, command: witnessed(0.2 * i) })),
          );
          const supervisor = lab.supervisor(['--concurrency', '2'], env);
          await lab.waitForJobs();
          process.kill(supervisor.pid, 'SIGTERM');
          await until(() => supervisor.child.exitCode !== null, 'the workers have stopped', 20_000);
        };
      },
    });
}

export const unexpectedError: Fault = {
  id: 'F32',
  title: 'An unexpected error in a worker',
  small: THROWING_POINTS.length,
  full: 10 * THROWING_POINTS.length,
  run: brokenWorker(THROWING_POINTS, 'throw'),
};

export const blockedLoop: Fault = {
  id: 'F33',
  title: 'The event loop of a worker is blocked for three leases',
  small: 4,
  full: 50,
  run: brokenWorker(BLOCKING_POINTS, 'block'),
};
