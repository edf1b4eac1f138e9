import { resolveSettings } from '../../src/core/stored-settings.ts';
import { openWork, storedSettings } from './audit.ts';

/**
 * After the last fault, a claim without a worker must be adopted within the lease and two heartbeats. These allowances
 * for long jobs and slow machines are many times what they need. The second one grows if the machine is slow.
 */
const LONGEST_JOB_MS = 5000;
const SLOWNESS_MS = 10_000;
/** `queuectl status` takes less than this on an idle machine. */
const PROBE_MS = 100;
/** A longer lease counts as this long, because F30 sets one to show that nothing waits for it. */
const LONGEST_LEASE_MS = 60_000;

export interface Standstill {
  /** Returns which claim or queue has not changed for longer than allowed, or null. It is called repeatedly. */
  check(): Promise<string | null>;
}

/** Watches the queue. `probe` returns the time of a command, which shows the speed of the machine. */
export function watchStandstill(database: string, slowest: number, probe: () => Promise<number>): Standstill {
  const { lease, 'heartbeat-interval': sweep } = resolveSettings(storedSettings(database));
  const promised = Math.min(lease, LONGEST_LEASE_MS) + 2 * sweep;
  const since = new Map<string, number>();
  let fewest = Number.POSITIVE_INFINITY;
  let slow = slowest;
  const bound = (): number => promised + LONGEST_JOB_MS + SLOWNESS_MS * Math.max(1, slow / PROBE_MS);

  const oldest = (): { what: string; ms: number } => {
    const { unfinished, claims } = openWork(database);
    fewest = Math.min(fewest, unfinished);
    const now = [...claims, `the queue with ${fewest} jobs left`];
    for (const what of since.keys()) if (!now.includes(what)) since.delete(what);
    for (const what of now) if (!since.has(what)) since.set(what, performance.now());
    const [what, at] = [...since].reduce((a, b) => (a[1] <= b[1] ? a : b));
    return { what, ms: performance.now() - at };
  };
  return {
    async check() {
      if (oldest().ms <= bound()) return null;
      // The machine may have become slower.
      slow = Math.max(slow, await probe());
      const { what, ms } = oldest();
      if (ms <= bound()) return null;
      return `${what} has stood still for ${Math.round(ms)} ms; ${promised} ms are promised, ${Math.round(bound())} ms allowed`;
    },
  };
}
