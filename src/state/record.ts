import { closeSync, lstatSync, openSync, readSync, writeSync } from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
import { openRegular } from '../files/regular-file.ts';
import { makePlace, type Place } from './place.ts';

/** What the frame left: its pid, and once the command ended its exit code and whether the frame got a stop signal. */
export type AttemptRecord =
  | { kind: 'running'; pid: number; lifeline: string | null }
  | { kind: 'ended'; pid: number; code: number; signalled: boolean }
  /** Recovery took the gate: the command never started and never will. */
  | { kind: 'gated' }
  /** Created and not written: on its way, or it ended there, for want of room. The command comes only after that. */
  | { kind: 'empty' }
  /** There, but not readable: something started, how it ended is unknown. */
  | { kind: 'unreadable' };

const LONGEST = 64;

/** How a frame exits that did not run its command, and no other: it could not take the gate, or not start a process. */
export const GATE_LOST_CODE = 75;
export const NO_ROOM_CODE = 76;

export function readRecord(place: Place): AttemptRecord | null {
  const file = openRegular(place.record);
  if (typeof file !== 'number') return file === 'absent' ? null : { kind: 'unreadable' };
  const buffer = Buffer.alloc(LONGEST);
  const text = buffer.toString('latin1', 0, readSync(file, buffer, 0, LONGEST, 0));
  closeSync(file);
  if (text === '') return { kind: 'empty' };
  const match = /^(\d+) +(run|gate|\d+)(s?) *(\d+-\w+)?-?\n/.exec(text);
  if (match === null) return { kind: 'unreadable' };
  const pid = Number(match[1]);
  if (match[2] === 'gate') return { kind: 'gated' };
  if (match[2] === 'run') return { kind: 'running', pid, lifeline: match[4] ?? null };
  return { kind: 'ended', pid, code: Number(match[2]), signalled: match[3] === 's' };
}

/**
 * Creates the record in the frame's stead, so that the command can never start. One winner: false means that the
 * frame was first. The directory stays, so that a worker frozen before making it finds it taken.
 */
export function takeGate(place: Place): boolean {
  makePlace(place);
  crashPoint('before-gate');
  let fd: number;
  try {
    fd = openSync(place.record, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  crashPoint('in-gate');
  writeSync(fd, `${'0'.padEnd(10)} gate \n`);
  closeSync(fd);
  crashPoint('after-gate');
  return true;
}

/** When the record was last written: for one that ended, the end. */
export function recordedAt(place: Place): number | undefined {
  const stat = lstatSync(place.record, { throwIfNoEntry: false });
  return stat === undefined ? undefined : Math.floor(stat.mtimeMs);
}
