import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, linkSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { newDraft, removeDraft } from '../files/drafts.ts';
import { sync } from '../files/durable.ts';
import { openRegular } from '../files/regular-file.ts';
import { makeCookie } from './cookie.ts';

const FILE = 'key';
const KEY_BYTES = 32;

/**
 * Makes the secret key of a state directory unless it has one. Only the user whose queue this is can read it. Where it cannot
 * be written, as on a full disk, jobs run without it: then only processes of this user are taken for theirs.
 */
export function makeKey(stateDirectory: string): void {
  if (readKey(stateDirectory) !== null) return;
  try {
    writeKey(stateDirectory);
  } catch {
    // Somebody else was first, or the next heartbeat tries again.
  }
}

/** Linked into place whole, so that two makers agree on one. */
function writeKey(stateDirectory: string): void {
  const file = join(stateDirectory, FILE);
  const draft = newDraft(file);
  try {
    crashPoint('before-key');
    writeFileSync(draft, randomBytes(KEY_BYTES), { mode: 0o600, flag: 'wx' });
    sync(draft);
    crashPoint('in-key');
    // A file that is no key is somebody's mistake.
    if (existsSync(file) && readKey(stateDirectory) === null) rmSync(file);
    linkSync(draft, file);
    crashPoint('after-key');
  } finally {
    removeDraft(draft);
  }
}

/** Returns the cookie of the attempt with this name in this state directory. */
export function cookieFor(stateDirectory: string, name: string): string {
  return makeCookie(readKey(stateDirectory), name);
}

/** Read each time: whoever keeps it would miss that the directory was replaced. Null: there is none. */
function readKey(stateDirectory: string): Buffer | null {
  const file = openRegular(join(stateDirectory, FILE));
  if (typeof file !== 'number') return null;
  const key = Buffer.alloc(KEY_BYTES);
  try {
    return readSync(file, key, 0, KEY_BYTES, 0) === KEY_BYTES ? key : null;
  } finally {
    closeSync(file);
  }
}
