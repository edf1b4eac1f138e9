import { pollUntil } from '../core/time/clock.ts';
import type { AttemptFiles } from '../state/attempt-files.ts';
import { type AttemptRecord, readRecord, takeGate } from '../state/record.ts';
import { gateTime } from './lease-clock.ts';
import { isOutOfSight, runsInOtherNamespace } from './lifeline.ts';
import { NO_GROUP, processes } from './processes.ts';

/** The state of an attempt whose worker is gone, as far as it can be observed. `pid` is that of the frame. */
export type Sighting =
  /** If only other processes of the attempt are found, `pid` is the process group of one of them. */
  | { kind: 'alive'; pid: number }
  | { kind: 'ended'; pid: number; code: number; signalled: boolean }
  /** The command may be alive in a pid namespace that this process cannot see. */
  | { kind: 'unseen' }
  /** The command may have run. It is over and left no exit code. */
  | { kind: 'lost'; pid: number | null }
  | { kind: 'never-started' };

const POLL_MS = 100;

/** Observes an attempt. If it has neither a record nor a process, takes the gate, so that the command cannot start any more. */
export function observeOrGate(files: AttemptFiles): Sighting {
  for (;;) {
    const record = readRecord(files); // fault-control: first-record
    if (record === null) {
      // If somebody deleted the record, the processes that carry the cookie are still running.
      const found = findByCookie(files);
      if (found !== null) return found;
      if (takeGate(files, gateTime())) return { kind: 'never-started' };
      continue;
    }
    const isLocal = record.kind === 'running' && !runsInOtherNamespace(record);
    if (isLocal && processes.carries(record.pid, files.cookie)) return { kind: 'alive', pid: record.pid };
    if (isOutOfSight(files)) return { kind: 'unseen' };
    // A command can overwrite its own record. So the record is final only when the frame is gone.
    const frame = processes.frameOf(files.cookie);
    if (frame !== null) return { kind: 'alive', pid: frame };
    if (record.kind === 'unreadable' || record.kind === 'empty' || runsInOtherNamespace(record)) {
      // The record may not be written yet, or has a pid of another namespace.
      const found = findByCookie(files);
      if (found !== null) return found;
    }
    // The record is read again after the search for processes. If the command ended meanwhile, its exit code is there by now.
    return fromRecord(readRecord(files)); // fault-control: last-record
  }
}

function findByCookie({ cookie }: AttemptFiles): Sighting | null {
  const [one] = processes.find({ cookie, group: NO_GROUP });
  return one === undefined ? null : { kind: 'alive', pid: one.group };
}

/** Tells by the record whether an attempt has ended or never starts. While the frame has a child, the command may have forged the record. */
export function hasEnded(files: AttemptFiles, frame: number): boolean {
  const record = readRecord(files);
  if (record?.kind !== 'ended' && record?.kind !== 'gated') return false;
  return !processes.carries(frame, files.cookie) || processes.childrenOf(frame).length === 0;
}

function fromRecord(record: AttemptRecord | null): Sighting {
  if (record?.kind === 'ended') return record;
  if (record?.kind === 'empty' || record?.kind === 'gated') return { kind: 'never-started' };
  return { kind: 'lost', pid: record?.kind === 'running' ? record.pid : null };
}

/** Waits until an attempt that is not a child of this process is over. If it was seen alive, it has started, even if its record is gone. */
export async function untilOver(files: AttemptFiles): Promise<Sighting> {
  let seen: { pid: number | null } | null = null;
  const over = await pollUntil((): Sighting | null => {
    const sighting = observeOrGate(files);
    if (sighting.kind === 'never-started' && seen !== null) return { kind: 'lost', ...seen };
    if (sighting.kind !== 'alive' && sighting.kind !== 'unseen') return sighting;
    seen = { pid: sighting.kind === 'alive' ? sighting.pid : null };
    return null;
  }, POLL_MS);
  return over!;
}
