import { resolveSettings } from '../../src/core/settings/stored-settings.ts';
import type { Audit } from './audit.ts';

/**
 * After the last fault, a claim without a worker must be adopted within the lease and two heartbeats. These allowances
 * are added, and they are generous: one for a long job, and one for a slow machine, which grows with the probe.
 */
const LONGEST_JOB_MS = 5000;
const SLOW_MACHINE_MS = 10_000;
/** `queuectl status` takes less than this on an idle machine. */
const PROBE_MS = 100;
/** A longer lease counts as this long. F30 sets a lease of one hour, for which nothing may wait. */
const LONGEST_LEASE_MS = 60_000;

export interface Standstill {
  /** Returns which claim or queue has not changed for longer than allowed, or null. It is called repeatedly. */
  check(): Promise<string | null>;
}

/** Watches the queue. `probe` runs a command and returns its time, and `probeMs` is the time of an earlier probe. */
export async function watchStandstill(
  audit: Audit,
  probeMs: number,
  probe: () => Promise<number>,
): Promise<Standstill> {
  const { lease, 'heartbeat-interval': heartbeat } = resolveSettings(await audit.storedSettings());
  const promisedMs = Math.min(lease, LONGEST_LEASE_MS) + 2 * heartbeat;
  const firstSeen = new Map<string, number>();
  let fewestUnfinished = Number.POSITIVE_INFINITY;
  let slowestProbeMs = probeMs;
  const allowedMs = (): number =>
    promisedMs + LONGEST_JOB_MS + SLOW_MACHINE_MS * Math.max(1, slowestProbeMs / PROBE_MS);

  const longestStandstill = async (): Promise<{ what: string; ms: number }> => {
    const { unfinished, claims } = await audit.unfinishedWork();
    fewestUnfinished = Math.min(fewestUnfinished, unfinished);
    const current = [...claims, `the queue with ${fewestUnfinished} jobs left`];
    for (const what of firstSeen.keys()) if (!current.includes(what)) firstSeen.delete(what);
    for (const what of current) if (!firstSeen.has(what)) firstSeen.set(what, performance.now());
    const [what, at] = [...firstSeen].reduce((a, b) => (a[1] <= b[1] ? a : b));
    return { what, ms: performance.now() - at };
  };
  return {
    async check() {
      if ((await longestStandstill()).ms <= allowedMs()) return null;
      // The machine may have become slower.
      slowestProbeMs = Math.max(slowestProbeMs, await probe());
      const { what, ms } = await longestStandstill();
      if (ms <= allowedMs()) return null;
      return `${what} has stood still for ${Math.round(ms)} ms; ${promisedMs} ms are promised, ${Math.round(allowedMs())} ms allowed`;
    },
  };
}
