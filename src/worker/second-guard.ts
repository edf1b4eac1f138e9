import { sinceLook } from '../exec/guard-line.ts';
import { leaseClock } from '../exec/lease-clock.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { guardHost, leaseOfThisBoot } from './guard.ts';

/** The longest time between two looks at the lease. A suspended machine does not count it. */
const LONGEST_WAIT_MS = 5000;
/** A guard looks more often than this while it stops commands. */
const SILENCE_MS = 1000;

/** Stops the commands of a host in the process of a worker, if the guard does not do it in time. */
export interface SecondGuard {
  /** Notes that the commands may run until this time of the lease clock. The guard has `slackMs` longer to begin to stop them. */
  renewed(until: number, slackMs: number): void;
  end(): void;
}

export function createSecondGuard(
  state: StateDirectory,
  line: string,
  log: (line: string) => void,
): SecondGuard {
  let lease = { until: Number.POSITIVE_INFINITY, slackMs: 0 };
  let timer: NodeJS.Timeout | undefined;
  let stopGuarding: (() => void) | null = null;
  const checkAfter = (ms: number): void => {
    timer = setTimeout(check, Math.min(ms, LONGEST_WAIT_MS));
    timer.unref();
  };
  const check = (): void => {
    // Another worker of this host may have renewed the lease.
    const until = leaseOfThisBoot(state)?.until ?? lease.until;
    const overForMs = leaseClock() - until;
    const { slackMs } = lease;
    const hasGuardLooked = sinceLook(line) < Math.min(overForMs, SILENCE_MS);
    if (overForMs >= slackMs && !hasGuardLooked) guardInstead();
    else checkAfter(overForMs < slackMs ? slackMs - overForMs : slackMs);
  };
  const guardInstead = (): void => {
    const { promise, resolve } = Promise.withResolvers<void>();
    stopGuarding = resolve;
    log('the guard does not respond; this worker stops the jobs of this host instead');
    const options = { line, abandoned: promise, staysForCommands: false, onLook() {}, log };
    guardHost(state, options).catch((error: Error) => {
      log(`cannot stop the jobs of this host: ${error.message}`);
      if (stopGuarding === resolve) checkAfter(lease.slackMs);
    });
  };
  const end = (): void => {
    clearTimeout(timer);
    stopGuarding?.();
    stopGuarding = null;
  };
  return {
    renewed(until, slackMs) {
      end();
      lease = { until, slackMs };
      checkAfter(until + slackMs - leaseClock());
    },
    end,
  };
}
