import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { QueueError } from '../core/errors.ts';
import { orNull } from '../core/text/language.ts';
import { shellWord } from '../core/text/shell-quote.ts';
import { refuseProblems } from '../files/own-files.ts';
import { writeAtomically } from '../files/write.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { secretProblem } from '../state/state-problems.ts';
import { refuse } from './problem.ts';

const TOKEN_BYTES = 32;

/** The roles of tokens. `full` can read and change everything. `read-only` can read everything, but change nothing. */
export const ROLES = ['full', 'read-only'] as const;
export type Role = (typeof ROLES)[number];

interface TokenOptions {
  rotateToken: boolean;
  anyOwner: boolean;
}

/** Returns the token in this file. If there is none, or with `rotateToken`, creates one that only the owner of the file can read. */
function readOrCreateToken(file: string, { rotateToken: replace, anyOwner }: TokenOptions): string {
  try {
    const known = replace ? null : tokenIn(file, anyOwner);
    if (known !== null) return known;
    // If two servers start at once, one creates the file and both use it.
    const text = `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`;
    writeAtomically(file, text, { replace, sync: true });
    return tokenIn(file, anyOwner) ?? throwUnusable(`${file} was removed`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EISDIR' || code === 'ENOTDIR')
      return throwUnusable(`${file} is not a file`, `to remove it: rmdir ${shellWord(file)}`);
    if (code === 'EACCES' || code === 'EPERM') throw new QueueError('not-permitted', `cannot read ${file}`);
    if (code === 'ENOSPC') throw new QueueError('disk-full', `cannot write ${file}: the disk is full`);
    throw error;
  }
}

/** Tells whether the file of one of the tokens has permissions for other users. */
export function isTokenExposed({ tokens }: StateDirectory): boolean {
  return ROLES.some((role) => (statSync(tokens[role]).mode & 0o077) !== 0);
}

/** Returns the token in a file, or null if there is no file. Throws if another user may have made it, or if it contains anything else. */
function tokenIn(file: string, anyOwner: boolean): string | null {
  if (!anyOwner) refuseProblems(secretProblem(file));
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
const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/**
 * Returns the token in a file, which can be replaced while the server runs. The file is created if there is none or if `rotateToken`
 * is true. If it becomes missing or unusable later, the old token stays valid, because the store may be unavailable for a while.
 */
function liveToken(file: string, options: TokenOptions) {
  const initial = readOrCreateToken(file, options);
  let digest = digestOf(initial);
  let stamp = '';
  let replaced = new AbortController();
  const reload = (): void => {
    const newStamp = orNull(() => stampOf(file));
    if (newStamp === null || newStamp === stamp) return;
    stamp = newStamp;
    const found = orNull(() => tokenIn(file, options.anyOwner));
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
    /** Compares the digest with that of the current token, in constant time. */
    matches: (given: Buffer): boolean => timingSafeEqual(digest, given),
    /** Returns a signal that is aborted when the current token is replaced. */
    replacedSignal: (): AbortSignal => replaced.signal,
  };
}

/** Returns a text that changes whenever the file is written. */
function stampOf(file: string): string {
  const stat = statSync(file, { bigint: true });
  return `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}

/** A session ends after this time without a request. */
export const IDLE_MS = 12 * 60 * 60 * 1000;
const MAX_SESSIONS_PER_ROLE = 1000;
const SECRET_FORM = /^([0-9a-f]{12})-[\w-]{43}$/;

interface Session {
  role: Role;
  /** Is aborted when the session ends. */
  ended: AbortSignal;
  /** Marks the session as in use, so that it does not become idle, until the returned function is called. */
  use(): () => void;
  /** Ends the session and its streams. */
  end(): void;
}

/** Creates the sessions of this process. Only digests of their secrets are kept, and only in memory, so a session is valid on no other server. */
export function createSessions(now: () => number, maxPerRole = MAX_SESSIONS_PER_ROLE) {
  const instance = randomBytes(6).toString('hex');
  // The map is ordered by the last use.
  const sessions = new Map<string, Session & { isIdle(): boolean }>();

  /** Starts a session and returns its secret. The session ends at the latest when `tokenReplaced` is aborted. */
  const begin = (role: Role, tokenReplaced: AbortSignal): string => {
    const secret = `${instance}-${randomBytes(32).toString('base64url')}`;
    const key = keyOf(secret);
    const endController = new AbortController();
    let usedAt = now();
    let inUse = 0;
    const end = (): void => {
      tokenReplaced.removeEventListener('abort', end);
      sessions.delete(key);
      endController.abort();
    };
    tokenReplaced.addEventListener('abort', end);
    sessions.set(key, {
      role,
      ended: endController.signal,
      end,
      use() {
        inUse++;
        return () => {
          inUse--;
          usedAt = now();
        };
      },
      isIdle: () => inUse === 0 && now() - usedAt > IDLE_MS,
    });
    // The limit counts by role, so that a read-only client cannot log others out.
    const sameRole = [...sessions.values()].filter((one) => one.role === role);
    if (sameRole.length > maxPerRole) sameRole[0]!.end();
    return secret;
  };

  return {
    begin,
    find(secret: string): Session | null {
      const key = keyOf(secret);
      const session = sessions.get(key);
      if (session === undefined) return null;
      if (session.isIdle()) {
        session.end();
        return null;
      }
      sessions.delete(key);
      sessions.set(key, session);
      return session;
    },
    /** Tells whether a text has the form of a session secret, and whether this server issued it. */
    origin(text: string): 'own' | 'foreign' | 'none' {
      const secretInstance = SECRET_FORM.exec(text)?.[1];
      if (secretInstance === undefined) return 'none';
      return secretInstance === instance ? 'own' : 'foreign';
    },
  };
}

const keyOf = (secret: string): string => digestOf(secret).toString('base64');

/** The token files are checked this often, so that sessions and streams end soon after their token was replaced. */
const RELOAD_MS = 1000;

/** The rights of one request. */
export interface Grant {
  role: Role;
  /** Null if the request has a token instead, or needs none. */
  session: Session | null;
  /** Is aborted when these rights end, which also ends the client's streams. */
  ended: AbortSignal;
}

/** The grant of a request that needs no token. */
export const OPEN_GRANT: Grant = { role: 'read-only', session: null, ended: new AbortController().signal };

/** Why a token or session is refused: the token is wrong, or the session has ended or belongs to another server process. */
export type DenialReason = 'wrong-token' | 'ended-session' | 'foreign-session';

export type AccessControl = ReturnType<typeof createAccessControl>;

/** Returns an object that decides what the bearer of a token or of a session may do. */
export function createAccessControl({ tokens }: StateDirectory, options: TokenOptions, now: () => number) {
  const liveTokens = ROLES.map((role) => ({ role, token: liveToken(tokens[role], options) }));
  const sessions = createSessions(now);
  const reload = (): void => {
    for (const { token } of liveTokens) token.reload();
  };
  const timer = setInterval(reload, RELOAD_MS).unref();

  const checkSession = (bearer: string, outgoing: ServerResponse): Grant | DenialReason => {
    const session = sessions.find(bearer);
    if (session === null) return 'ended-session';
    outgoing.once('close', session.use());
    return { role: session.role, session, ended: session.ended };
  };

  return {
    /** The token that each role had when the server started. */
    tokens: Object.fromEntries(liveTokens.map(({ role, token }) => [role, token.initial])) as Record<
      Role,
      string
    >,
    /** Returns the rights of a token or session, or why it is refused. A session is in use until `outgoing` closes. */
    check(bearer: string, outgoing: ServerResponse): Grant | DenialReason {
      reload();
      const origin = sessions.origin(bearer);
      if (origin === 'foreign') return 'foreign-session';
      if (origin === 'own') return checkSession(bearer, outgoing);
      const digest = digestOf(bearer);
      // Every token is compared, so that the time does not depend on which one matches.
      const [found] = liveTokens.filter(({ token }) => token.matches(digest));
      if (found === undefined) return 'wrong-token';
      return { role: found.role, session: null, ended: found.token.replacedSignal() };
    },
    /** Starts a session with the rights of a token, and returns its secret. */
    logIn({ role, ended, session }: Grant): string {
      if (session !== null) refuse('not-allowed', 'a session cannot start another session', 'send the token');
      // The token may have been replaced while the rest of the request was on its way.
      reload();
      if (ended.aborted) refuse('no-token', 'this token was replaced');
      return sessions.begin(role, ended);
    },
    close: () => clearInterval(timer),
  };
}
