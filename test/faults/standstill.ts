import { resolveSettings } from '../../src/core/stored-settings.ts';
import { openWork, storedSettings } from './audit.ts';

/**
 * I5: after the last fault a claim whose worker is gone is taken up, and the queue goes on, within the lease and two
 * sweeps. A sweep comes with every heartbeat. A job may take its time, and so may a machine: what is allowed for that is
 * many times what it takes, and grows with how slow the machine is found to be.
 */
const LONGEST_JOB_MS = 5000;
const ALLOWED_MS = 10_000;
/** More than `queuectl status` takes on a machine with nothing else to do. */
const PROBE_MS = 100;
/** A longer lease is set by those who want to see that nobody waits for it. */
const LONGEST_LEASE_MS = 60_000;

export interface Standstill {
  /** What has stood still for longer than it may; null: nothing. To be asked again and again. */
  look(): Promise<string | null>;
}

/** `probe` is a command of queuectl's, to see how fast the machine is. */
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
      // How slow it is counts now.
      slow = Math.max(slow, await probe());
      const { what, ms } = oldest();
      if (ms <= bound()) return null;
      return `${what} has stood still for ${Math.round(ms)} ms; ${promised} ms are promised, ${Math.round(bound())} ms allowed`;
    },
  };
}
