import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, readSync, rmSync } from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
import { writeAtomically } from '../files/atomic.ts';
import { newDraft } from '../files/drafts.ts';
import { openRegular } from '../files/regular-file.ts';
import { makeCookie } from './cookie.ts';
import type { StateDirectory } from './state-directory.ts';

const KEY_BYTES = 32;

/** Creates the secret key of a state directory unless it has a valid one. Only this user can read it. Ignores errors. */
export function makeKey(state: StateDirectory): void {
  if (readKey(state) !== null) return;
  try {
    const draft = newDraft(state.key);
    crashPoint('before-key');
    writeAtomically(state.key, randomBytes(KEY_BYTES), {
      draft,
      replace: false,
      sync: true,
      beforeNaming: () => removeBadKey(state),
    });
    crashPoint('after-key');
  } catch {
    // The next heartbeat tries again. Without a key, only processes of this user are recognized as those of jobs.
  }
}

/** Removes a file that is not a valid key, for example a truncated one. */
function removeBadKey(state: StateDirectory): void {
  crashPoint('in-key');
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
