import { closeSync, lstatSync, openSync, readSync, writeSync } from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
import { openRegular } from '../files/read.ts';
import { type AttemptFiles, createOutput } from './attempt-files.ts';

/** The contents of the record: the frame's pid, its lifeline if it has one, the exit code, and whether the frame got a stop signal. */
export type AttemptRecord =
  | { kind: 'running'; pid: number; lifeline: string | null }
  | { kind: 'ended'; pid: number; code: number; signalled: boolean }
  /**
   * Recovery took the gate, or the frame could not start a process. So the command never started and never will. `at` is when recovery
   * did so (`gateTime`). It is null in a record of a frame.
   */
  | { kind: 'gated'; at: string | null }
  /** The file was created and not written yet, or could not be written on a full disk. The command has not started. */
  | { kind: 'empty' }
  /** The file exists and cannot be read. The command may have started, and how it ended is unknown. */
  | { kind: 'unreadable' };

const LONGEST_RECORD_BYTES = 64;

/** The exit code of a frame that did not run its command because it could not create the record. */
export const GATE_LOST_CODE = 75;

/** Reads the record. Returns null if there is none. */
export function readRecord(files: AttemptFiles): AttemptRecord | null {
  const file = openRegular(files.record);
  if (typeof file !== 'number') return file === 'absent' ? null : { kind: 'unreadable' };
  const buffer = Buffer.alloc(LONGEST_RECORD_BYTES);
  const text = buffer.toString('latin1', 0, readSync(file, buffer, 0, LONGEST_RECORD_BYTES, 0));
  closeSync(file);
  if (text === '') return { kind: 'empty' };
  const match = /^(\d+) +(run|gate|\d+)(s?) *(\d+-\w+)?-?\n/.exec(text);
  if (match === null) return { kind: 'unreadable' };
  const pid = Number(match[1]);
  if (match[2] === 'gate') return { kind: 'gated', at: match[4] ?? null };
  if (match[2] === 'run') return { kind: 'running', pid, lifeline: match[4] ?? null };
  return { kind: 'ended', pid, code: Number(match[2]), signalled: match[3] === 's' };
}

/** Creates the record before the frame does, so that the command never starts. `at` is the time. Returns false if the record exists. */
export function takeGate(files: AttemptFiles, at: string): boolean {
  // The output file is created, too, so that a worker that was frozen before creating it starts no frame.
  const output = createOutput(files);
  if (output !== null) closeSync(output);
  crashPoint('before-gate');
  let fd: number;
  try {
    fd = openSync(files.record, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  crashPoint('in-gate');
  writeSync(fd, `${'0'.padEnd(10)} gate ${at}\n`);
  closeSync(fd);
  crashPoint('after-gate');
  return true;
}

/** Returns the time of the last write to the record, or undefined if there is none. For an ended attempt, that is its end. */
export function recordedAt(files: AttemptFiles): number | undefined {
  const stat = lstatSync(files.record, { throwIfNoEntry: false });
  return stat === undefined ? undefined : Math.floor(stat.mtimeMs);
}
