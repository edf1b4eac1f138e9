import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';
import { digestOf, readOrCreateToken, tokenIn } from './token.ts';

/** A token that can be replaced in its file while the server runs. */
export interface LiveToken {
  /** The token that was valid when the server started. */
  readonly initial: string;
  /** Compares the digest with that of the current token, in constant time. */
  matches(digest: Buffer): boolean;
  /** Returns a signal that is aborted when the current token is replaced. */
  replacedSignal(): AbortSignal;
  /** Reads the file again if it has changed. */
  reload(): void;
}

/**
 * Returns the token in a file, which is created if there is none or if `rotate` is true. If the file becomes missing or unusable
 * later, the old token stays valid, because the store may be unavailable for a while.
 */
export function liveToken(file: string, rotate: boolean): LiveToken {
  const initial = readOrCreateToken(file, rotate);
  let digest = digestOf(initial);
  let stamp = '';
  let replaced = new AbortController();
  const reload = (): void => {
    const newStamp = orNull(() => stampOf(file));
    if (newStamp === null || newStamp === stamp) return;
    stamp = newStamp;
    const found = orNull(() => tokenIn(file));
    if (found === null) return;
    const newDigest = digestOf(found);
    if (newDigest.equals(digest)) return;
    digest = newDigest;
    const old = replaced;
    replaced = new AbortController();
    old.abort();
  };
  return {
    initial,
    reload,
    matches: (given) => timingSafeEqual(digest, given),
    replacedSignal: () => replaced.signal,
  };
}

/** Returns a text that changes whenever the file is written. */
function stampOf(file: string): string {
  const stat = statSync(file, { bigint: true });
  return `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}
