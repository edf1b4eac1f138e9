import { pause } from '../core/clock.ts';
import type { Place } from '../state/place.ts';
import { type AttemptRecord, readRecord, takeGate } from '../state/record.ts';
import { isForeign, isOutOfSight } from './lifeline.ts';
import { processes } from './processes.ts';

/** What is found of an attempt whose worker is gone. */
export type Sighting =
  | { kind: 'alive'; pid: number }
  | { kind: 'ended'; pid: number; code: number; signalled: boolean }
  /** It may live, in a pid namespace that we cannot see into. */
  | { kind: 'unseen' }
  /** It ran, is over, and left no exit code. */
  | { kind: 'lost'; pid: number | null }
  | { kind: 'never-started' };

const LOOK_MS = 100;

/**
 * The process first, only then the record: a command that ends between two looks has written its code by the second.
 * Without a record the gate is taken, so that it cannot start any more.
 */
export function sight(place: Place): Sighting {
  for (;;) {
    const before = readRecord(place); // fault-control: first-record
    if (before === null) {
      // A record that somebody deleted: what carries the cookie is running all the same.
      const [one] = processes.find(place.cookie, -1);
      if (one !== undefined) return { kind: 'alive', pid: one.group };
      if (takeGate(place)) return { kind: 'never-started' };
      continue;
    }
    const isHere = before.kind === 'running' && !isForeign(before);
    if (isHere && processes.carries(before.pid, place.cookie)) return { kind: 'alive', pid: before.pid };
    if (isOutOfSight(place)) return { kind: 'unseen' };
    // A command can write anything over its own record. The frame has the last word, and has it when it is gone.
    const frame = processes.frameOf(place.cookie);
    if (frame !== null) return { kind: 'alive', pid: frame };
    if (before.kind === 'unreadable' || before.kind === 'empty' || isForeign(before)) {
      // Not yet written, perhaps, or with a pid that means nothing here: its processes tell.
      const [one] = processes.find(place.cookie, -1);
      if (one !== undefined) return { kind: 'alive', pid: one.group };
    }
    return fromRecord(readRecord(place)); // fault-control: last-record
  }
}

/** Tells whether the record of an attempt holds the end of its command, and its frame has no child that belies it. */
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

/** Waits for a command that is not our child. What was seen alive has started, whatever became of its record. */
export async function untilOver(place: Place): Promise<Sighting> {
  let seen: { pid: number | null } | null = null;
  for (;;) {
    const sighting = sight(place);
    if (sighting.kind === 'never-started' && seen !== null) return { kind: 'lost', ...seen };
    if (sighting.kind !== 'alive' && sighting.kind !== 'unseen') return sighting;
    seen = { pid: sighting.kind === 'alive' ? sighting.pid : null };
    await pause(LOOK_MS);
  }
}
