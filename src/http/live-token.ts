import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';
import { digestOf, readToken, tokenIn } from './token.ts';

/** A token that can be replaced in its file while the server runs. */
export interface LiveToken {
  /** The token that was valid when the server started. */
  readonly first: string;
  /** Compares the digest with that of the current token, in constant time. */
  matches(digest: Buffer): boolean;
  /** Returns a signal that is aborted when the current token is replaced. */
  replaced(): AbortSignal;
  /** Reads the file again if it has changed. */
  reload(): void;
}

/**
 * Returns a token that follows its file. If the file is missing or unusable, the old token stays valid, because the store may
 * be unavailable for a while.
 */
export function liveToken(file: string, rotate: boolean): LiveToken {
  const first = readToken(file, rotate);
  let digest = digestOf(first);
  let stamp = '';
  let current = new AbortController();
  const reload = (): void => {
    const seen = orNull(() => stampOf(file));
    if (seen === null || seen === stamp) return;
    stamp = seen;
    const found = orNull(() => tokenIn(file));
    if (found === null) return;
    const fresh = digestOf(found);
    if (fresh.equals(digest)) return;
    digest = fresh;
    const old = current;
    current = new AbortController();
    old.abort();
  };
  return {
    first,
    reload,
    matches: (given) => timingSafeEqual(digest, given),
    replaced: () => current.signal,
  };
}

/** Returns a text that changes whenever the file is written. */
function stampOf(file: string): string {
  const stat = statSync(file, { bigint: true });
  return `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}
