import { guardedMs } from '../../core/settings/stored-settings.ts';
import { toIso } from '../../core/time/time.ts';
import { isSameBoot, knownHost } from '../../state/host.ts';
import type { Worker } from '../../store/contract/workers.ts';
import { type App, currentSettings } from '../app.ts';

/** The last heartbeat that a host has stored, and what follows if it is the last. All times are by the clock of the store. */
export type HostHeartbeat = Awaited<ReturnType<typeof hostHeartbeats>>[number];

/** A busy host may be late by this much. */
const TOLERANCE_MS = 1000;

/** Returns the last heartbeat of each host that has one of the chosen workers. Returns nothing for a store that only one host uses. */
export async function hostHeartbeats(app: App, isChosen: (worker: Worker) => boolean) {
  if (!app.store.manyHosts) return [];
  const byHost = Map.groupBy(await app.store.workers(), ({ host }) => `${host.id} ${host.boot}`);
  const known = await app.store.hosts();
  const settings = await currentSettings(app);
  const ownHost = knownHost(app.stateDirectory);
  const now = app.clock.now();
  return [...byHost.values()]
    .filter((workers) => workers.some(isChosen))
    .map((workers) => {
      const at = Math.max(...workers.map((worker) => worker.lastHeartbeat));
      return {
        /** The name of the host. */
        name: workers.at(-1)!.hostname,
        /** False if it is the host of this process. */
        isOther: !isSameBoot(workers[0]!.host, ownHost),
        /** All registered workers of the host. */
        workers,
        at,
        /** Tells whether the next heartbeat should have come long ago. */
        isLate: now - at > 2 * settings['heartbeat-interval'] + TOLERANCE_MS,
        /** When the guard of the host stops its jobs. */
        guardedUntil: at + guardedMs(settings),
        /**
         * When the lease ends, after which other hosts take over the jobs of the host. It may be longer than the present setting. A boot
         * that is not listed has no lease.
         */
        leaseUntil: known.find((one) => isSameBoot(one, workers[0]!.host))?.leaseUntil ?? at,
      };
    });
}

/** Returns when the last lease of the hosts with this name ends, or has ended. A host may have a lease without a worker. */
export async function lastLeaseOf({ store }: App, hostName: string): Promise<number> {
  const named = (await store.hosts()).filter(({ name }) => name === hostName);
  return Math.max(...named.map(({ leaseUntil }) => leaseUntil));
}

/** Returns the other hosts that have one of the chosen workers and do not answer, although they have a lease. */
export async function lateHosts(app: App, isChosen: (worker: Worker) => boolean): Promise<HostHeartbeat[]> {
  const hosts = await hostHeartbeats(app, (worker) => worker.hasLease && isChosen(worker));
  return hosts.filter(({ isOther, isLate }) => isOther && isLate);
}

/** Returns the other hosts that run one of these jobs and do not answer. */
export function lateHostsOfJobs(app: App, ids: string[]): Promise<HostHeartbeat[]> {
  return lateHosts(app, (worker) => worker.currentJobs.some((id) => ids.includes(id)));
}

/** Returns a sentence about the jobs of a host that does not answer. It stays the same until the next heartbeat. */
export function describeLateHost({ name, at, leaseUntil }: HostHeartbeat): string {
  return `host ${name} has sent no heartbeat since ${toIso(at)}; if none comes before ${toIso(leaseUntil)}, another host takes over its jobs`;
}
