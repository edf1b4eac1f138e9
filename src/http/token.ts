import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import { writeAtomically } from '../files/atomic.ts';
import type { StateDirectory } from '../state/state-directory.ts';

const TOKEN_BYTES = 32;

/** The roles of tokens. `full` can read and change everything. `read-only` can read everything, but change nothing. */
export const ROLES = ['full', 'read-only'] as const;
export type Role = (typeof ROLES)[number];

/** Returns the token in this file. If there is none, or with `rotate`, creates one that only the owner of the file can read. */
export function readOrCreateToken(file: string, rotate: boolean): string {
  try {
    const known = rotate ? null : tokenIn(file);
    if (known !== null) return known;
    // If two servers start at once, one creates the file and both use it.
    const text = `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`;
    writeAtomically(file, text, { replace: rotate, sync: true });
    return tokenIn(file) ?? throwUnusable(`${file} was removed`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EISDIR' || code === 'ENOTDIR')
      return throwUnusable(`${file} is not a file`, `to remove it: rmdir '${file}'`);
    if (code === 'EACCES' || code === 'EPERM') throw new QueueError('not-permitted', `cannot read ${file}`);
    if (code === 'ENOSPC') throw new QueueError('disk-full', `cannot write ${file}: the disk is full`);
    throw error;
  }
}

/** Tells whether the file of one of the tokens has permissions for other users. */
export function isTokenExposed({ tokens }: StateDirectory): boolean {
  return ROLES.some((role) => (statSync(tokens[role]).mode & 0o077) !== 0);
}

/** Returns the token in a file, or null if there is no file. Throws if the file contains anything else. */
export function tokenIn(file: string): string | null {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return /^[\w-]{43}$/.test(text) ? text : throwUnusable(`${file} does not contain a token`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function throwUnusable(message: string, hint = 'to create new tokens: queuectl serve --rotate-token'): never {
  throw new QueueError('store-unavailable', message, hint);
}

/** Returns the digest of a secret. All digests have the same length, so that comparing them reveals nothing about the secret. */
export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
