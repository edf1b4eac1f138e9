import { pause } from '../core/clock.ts';
import type { Place } from '../state/place.ts';
import { type AttemptRecord, readRecord, takeGate } from '../state/record.ts';
import { isForeign, isOutOfSight } from './lifeline.ts';
import { NO_GROUP, processes } from './processes.ts';

/** The state of an attempt whose worker is gone, as far as it can be observed. */
export type Sighting =
  | { kind: 'alive'; pid: number }
  | { kind: 'ended'; pid: number; code: number; signalled: boolean }
  /** The command may be alive in a pid namespace that this process cannot see. */
  | { kind: 'unseen' }
  /** The command ran, has ended, and left no exit code. */
  | { kind: 'lost'; pid: number | null }
  | { kind: 'never-started' };

const POLL_MS = 100;

/** Observes an attempt. If there is no record, takes the gate, so that the command cannot start any more. */
export function observe(place: Place): Sighting {
  for (;;) {
    const before = readRecord(place); // fault-control: first-record
    if (before === null) {
      // If somebody deleted the record, the processes that carry the cookie are still running.
      const found = findByCookie(place);
      if (found !== null) return found;
      if (takeGate(place)) return { kind: 'never-started' };
      continue;
    }
    const isHere = before.kind === 'running' && !isForeign(before);
    if (isHere && processes.carries(before.pid, place.cookie)) return { kind: 'alive', pid: before.pid };
    if (isOutOfSight(place)) return { kind: 'unseen' };
    // A command can overwrite its own record. The record is final only when the frame is gone.
    const frame = processes.frameOf(place.cookie);
    if (frame !== null) return { kind: 'alive', pid: frame };
    if (before.kind === 'unreadable' || before.kind === 'empty' || isForeign(before)) {
      // The record may not be written yet, or has a pid of another namespace.
      const found = findByCookie(place);
      if (found !== null) return found;
    }
    // The record is read after the process: a command that ended in between has written its exit code by now.
    return fromRecord(readRecord(place)); // fault-control: last-record
  }
}

function findByCookie({ cookie }: Place): Sighting | null {
  const [one] = processes.find({ cookie, group: NO_GROUP });
  return one === undefined ? null : { kind: 'alive', pid: one.group };
}

/** Tells whether the record shows the end of a command. A forged record is ignored: then the frame still has a child. */
export function hasEnded(place: Place, frame: number): boolean {
  const record = readRecord(place);
  if (record?.kind !== 'ended' && record?.kind !== 'gated') return false;
  return !processes.carries(frame, place.cookie) || processes.childOf(frame) === null;
}

function fromRecord(record: AttemptRecord | null): Sighting {
  if (record?.kind === 'ended') return record;
  if (record?.kind === 'empty' || record?.kind === 'gated') return { kind: 'never-started' };
  return { kind: 'lost', pid: record?.kind === 'running' ? record.pid : null };
}

/** Waits for a command that is not a child of this process. If it was seen alive, it has started, even without a record. */
export async function untilOver(place: Place): Promise<Sighting> {
  let seen: { pid: number | null } | null = null;
  for (;;) {
    const sighting = observe(place);
    if (sighting.kind === 'never-started' && seen !== null) return { kind: 'lost', ...seen };
    if (sighting.kind !== 'alive' && sighting.kind !== 'unseen') return sighting;
    seen = { pid: sighting.kind === 'alive' ? sighting.pid : null };
    await pause(POLL_MS);
  }
}
