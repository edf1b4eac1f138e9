import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BYTES = 32;

/** The token of this store: made on first use, 256 bits, readable by its owner alone. */
export function readToken(stateDirectory: string, rotate: boolean): string {
  const file = join(stateDirectory, 'token');
  const fresh = join(stateDirectory, `token.${process.pid}.${randomBytes(4).toString('hex')}`);
  const known = rotate ? null : tokenIn(file);
  if (known !== null) return known;
  writeFileSync(fresh, `${randomBytes(BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  if (rotate) renameSync(fresh, file);
  else {
    // Of two servers that start at once one makes it, and both use it.
    try {
      linkSync(fresh, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(fresh, { force: true });
    }
  }
  const token = tokenIn(file);
  if (token === null) throw new Error(`${file} holds no token`);
  return token;
}

function tokenIn(file: string): string | null {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return /^[\w-]{43}$/.test(text) ? text : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Compares what is as long as the other in any case, in a time that tells nothing. */
export function tokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const own = digest(token);
  return (given) => timingSafeEqual(own, digest(given));
}
