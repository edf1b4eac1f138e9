import { createHmac, randomBytes } from 'node:crypto';
import { closeSync, existsSync, readSync, rmSync } from 'node:fs';
import { openRegular } from '../files/read.ts';
import { newDraft, writeAtomically } from '../files/write.ts';
import type { StateDirectory } from './state-directory.ts';

const KEY_BYTES = 32;

/** Creates the secret key of a state directory unless it has a valid one. Only this user can read it. Ignores errors. */
export function makeKey(state: StateDirectory): void {
  if (readKey(state) !== null) return;
  try {
    writeAtomically(state.key, randomBytes(KEY_BYTES), {
      draft: newDraft(state.key),
      replace: false,
      sync: true,
      point: 'key',
      beforeNaming: () => removeBadKey(state),
    });
  } catch {
    // The next heartbeat tries again. Without a key, only processes of this user are recognized as those of jobs.
  }
}

/** Removes a file that is not a valid key, for example a truncated one. */
function removeBadKey(state: StateDirectory): void {
  if (existsSync(state.key) && readKey(state) === null) rmSync(state.key);
}

/** Returns the cookie of the attempt with this name in this state directory. */
export function cookieFor(state: StateDirectory, name: string): string {
  return makeCookie(readKey(state), name);
}

/** Reads the key. Returns null if there is no valid one. The key is never cached, because the directory may be replaced. */
function readKey(state: StateDirectory): Buffer | null {
  const file = openRegular(state.key);
  if (typeof file !== 'number') return null;
  const key = Buffer.alloc(KEY_BYTES);
  try {
    return readSync(file, key, 0, KEY_BYTES, 0) === KEY_BYTES ? key : null;
  } finally {
    closeSync(file);
  }
}

const MAC_DIGITS = 32;
const MAC = /-[0-9a-f]{32}$/;

/** Returns the cookie of the attempt with this name: the name and its MAC or, without a key, the name alone. */
export function makeCookie(key: Buffer | null, name: string): string {
  if (key === null) return name;
  return `${name}-${createHmac('sha256', key).update(name).digest('hex').slice(0, MAC_DIGITS)}`;
}

/** Returns the name of the attempt that a cookie is for, whether or not its MAC is right. */
export function nameIn(cookie: string): string {
  return cookie.replace(MAC, '');
}

/**
 * Tells whether a process that carries the cookie `carried` belongs to the attempt with `cookie`. Other users can read the name
 * of an attempt in a list of processes and give it to their own processes, but they cannot make the MAC. For a process of this
 * user (`isOwnProcess`) the name is enough, so that a job which started before the key existed is found.
 */
export function cookieMatches(carried: string, cookie: string, isOwnProcess: () => boolean): boolean {
  const name = nameIn(carried);
  if (name !== nameIn(cookie)) return false;
  return (carried === cookie && carried !== name) || isOwnProcess();
}
