import { closeSync, openSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';
import { countOf } from '../core/words.ts';
import { hasOtherGuard } from '../exec/guard-line.ts';
import { endProcesses, targetOf } from '../exec/kill.ts';
import { leaseClock } from '../exec/lease-clock.ts';
import { NO_GROUP, processes } from '../exec/processes.ts';
import { runningCommandIn, unfinishedPlaces } from '../exec/running-commands.ts';
import { type HostLease, readLease } from '../state/lease.ts';
import type { Place } from '../state/place.ts';
import { readRecord, takeGate } from '../state/record.ts';
import type { StateDirectory } from '../state/state-directory.ts';

/** The longest time between two looks at the lease. A suspended machine does not count it. */
const CHECK_MS = 500;
/** The time between two looks while commands are being stopped. */
const STOP_CHECK_MS = 100;
/** If an attempt cannot be stopped, it is tried again after this time. */
const RETRY_MS = 1000;

export interface GuardOptions {
  /** The path of the guard's own pipe. */
  line: string;
  /** Resolves when the supervisor and all its workers are gone. */
  abandoned: Promise<unknown>;
  /** Whether the guard then stays until the commands have ended. */
  staysForCommands: boolean;
  /** Is called with each look at the lease. `isAbandoned` tells whether the supervisor and the workers are gone. */
  onLook(isAbandoned: boolean): void;
  log(line: string): void;
}

interface Guard extends GuardOptions {
  readonly state: StateDirectory;
  /** The names of the attempts that are being stopped. */
  readonly stopping: Set<string>;
  /** The names of the attempts that are over. */
  readonly over: Set<string>;
}

/**
 * Stops all commands of this host when the lease of the host is about to end, so that they are gone when another host takes over their
 * jobs. Attempts that were claimed and have not started are kept from starting. Ends after its supervisor and workers, when no
 * command is left or another guard is there.
 */
export async function guardHost(state: StateDirectory, options: GuardOptions): Promise<void> {
  const guard: Guard = { ...options, state, stopping: new Set(), over: new Set() };
  let isAbandoned = false;
  let abandonedAt = Number.POSITIVE_INFINITY;
  const abandoned = options.abandoned.then(() => {
    isAbandoned = true;
    abandonedAt = leaseClock();
  });
  for (let lease: HostLease | null = null; ; ) {
    options.onLook(isAbandoned);
    // If somebody has removed the file, the last known lease counts.
    lease = leaseOfThisBoot(state) ?? lease;
    const leftMs = lease === null ? Number.POSITIVE_INFINITY : lease.until - leaseClock();
    if (lease !== null && leftMs <= 0) stopCommands(guard, lease.graceMs); // fault-control: guard
    if (isAbandoned && isNoLongerNeeded(guard, abandonedAt)) return;
    // A search takes some time, so it is repeated soon only while there is something to stop.
    const pauseMs =
      guard.stopping.size > 0 ? STOP_CHECK_MS : leftMs <= 0 ? CHECK_MS : Math.min(CHECK_MS, leftMs);
    await waitFor(pauseMs, isAbandoned ? null : abandoned);
  }
}

/** Returns the lease that a worker wrote last, unless that was in an earlier boot. */
export function leaseOfThisBoot(state: StateDirectory): HostLease | null {
  const lease = readLease(state);
  return lease?.boot === processes.bootId() ? lease : null;
}

/** Waits for this long, or until the promise resolves. */
async function waitFor(ms: number, promise: Promise<void> | null): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([elapsed, ...(promise === null ? [] : [promise])]);
  clearTimeout(timer);
}

function isNoLongerNeeded({ state, line, stopping, staysForCommands }: Guard, abandonedAt: number): boolean {
  if (!staysForCommands) return true;
  if (stopping.size > 0) return false;
  // Another guard may be suspended, so it counts only after its next look.
  return hasOtherGuard(state, line, abandonedAt) || runningCommandIn(state, new Set()) === null;
}

function stopCommands(guard: Guard, graceMs: number): void {
  const { state, stopping, over, log } = guard;
  const places = unfinishedPlaces(state, over).filter(({ name }) => !stopping.has(name));
  const started = places.filter((place) => readRecord(place) !== null).length;
  if (started > 0)
    log(`the lease of this host could not be renewed; stopping ${countOf(started)} before it ends`);
  for (const place of places) {
    stopping.add(place.name);
    stopCommand(place, graceMs).then(
      () => {
        over.add(place.name);
        stopping.delete(place.name);
      },
      (error: Error) => {
        log(`cannot stop the attempt ${place.name}: ${error.message}`);
        setTimeout(() => stopping.delete(place.name), RETRY_MS);
      },
    );
  }
}

async function stopCommand(place: Place, graceMs: number): Promise<void> {
  const target = targetOf(place);
  const isAlive = readRecord(place) !== null || processes.find({ ...target, group: NO_GROUP }).length > 0;
  if (!isAlive && takeGate(place)) return;
  // On a full disk the mark may be missing. The attempt is then judged by its exit code.
  orNull(() => closeSync(openSync(place.guarded, 'a', 0o600)));
  await endProcesses(targetOf(place), graceMs);
}
