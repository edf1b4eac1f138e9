import { resolveSettings } from '../../src/core/stored-settings.ts';
import { openWork, storedSettings } from './audit.ts';

/**
 * After the last fault a claim without a worker is adopted and the queue continues, within the lease and two
 * heartbeats. Recovery runs with every heartbeat. The allowance for long jobs and slow machines is many times what
 * they need, and grows with the measured slowness of the machine.
 */
const LONGEST_JOB_MS = 5000;
const ALLOWED_MS = 10_000;
/** This is more than `queuectl status` takes on an idle machine. */
const PROBE_MS = 100;
/** A test sets a longer lease to show that nothing waits for it. */
const LONGEST_LEASE_MS = 60_000;

export interface Standstill {
  /** Returns what has not moved for longer than allowed, or null. It is called repeatedly. */
  look(): Promise<string | null>;
}

/** Watches the queue. `probe` times a command of queuectl, to measure the speed of the machine. */
export function watchStandstill(database: string, slowest: number, probe: () => Promise<number>): Standstill {
  const { lease, 'heartbeat-interval': sweep } = resolveSettings(storedSettings(database));
  const promised = Math.min(lease, LONGEST_LEASE_MS) + 2 * sweep;
  const since = new Map<string, number>();
  let fewest = Number.POSITIVE_INFINITY;
  let slow = slowest;
  const bound = (): number => promised + LONGEST_JOB_MS + ALLOWED_MS * Math.max(1, slow / PROBE_MS);

  const oldest = (): { what: string; ms: number } => {
    const { left, claims } = openWork(database);
    fewest = Math.min(fewest, left);
    const now = [...claims, `the queue with ${fewest} jobs left`];
    for (const what of since.keys()) if (!now.includes(what)) since.delete(what);
    for (const what of now) if (!since.has(what)) since.set(what, performance.now());
    const [what, at] = [...since].reduce((a, b) => (a[1] <= b[1] ? a : b));
    return { what, ms: performance.now() - at };
  };
  return {
    async look() {
      if (oldest().ms <= bound()) return null;
      // The current slowness of the machine counts.
      slow = Math.max(slow, await probe());
      const { what, ms } = oldest();
      if (ms <= bound()) return null;
      return `${what} has stood still for ${Math.round(ms)} ms; ${promised} ms are promised, ${Math.round(bound())} ms allowed`;
    },
  };
}
