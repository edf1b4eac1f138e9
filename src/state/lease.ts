import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { StateDirectory } from './state-directory.ts';

/** How long the commands of this host may run. Workers write it after each renewal, and guards read it. */
export interface HostLease {
  /** The boot in which it was written. */
  boot: string;
  /** When the commands are to be stopped, by the clock of exec/lease-clock.ts. */
  until: number;
  /** The time between SIGTERM and SIGKILL. */
  graceMs: number;
}

const LONGEST_BYTES = 128;

/** Overwrites the file in place, and always with the same length, so that a full disk does not prevent it. */
export function writeLease(state: StateDirectory, { boot, until, graceMs }: HostLease): void {
  const text = `${boot.padEnd(36)} ${String(until).padStart(15)} ${String(graceMs).padStart(10)}\n`;
  const file = openForWriting(state);
  try {
    writeSync(file, text, 0);
  } finally {
    closeSync(file);
  }
}

function openForWriting({ lease }: StateDirectory): number {
  try {
    return openSync(lease, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return openSync(lease, 'a', 0o600);
  }
}

/** Returns the lease that was written last, or null if there is none or it cannot be read. */
export function readLease({ lease }: StateDirectory): HostLease | null {
  const buffer = Buffer.alloc(LONGEST_BYTES);
  let length: number;
  try {
    const file = openSync(lease, 'r');
    length = readSync(file, buffer, 0, LONGEST_BYTES, 0);
    closeSync(file);
  } catch {
    return null;
  }
  const match = /^(\S+) +(\d+) +(\d+)\n/.exec(buffer.toString('latin1', 0, length));
  return match === null ? null : { boot: match[1]!, until: Number(match[2]), graceMs: Number(match[3]) };
}
