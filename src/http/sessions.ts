import { randomBytes } from 'node:crypto';
import { digestOf, type Role } from './token.ts';

/** A session ends after this time without a request. */
export const IDLE_MS = 12 * 60 * 60 * 1000;
const MAX_SESSIONS_PER_ROLE = 1000;
const SECRET_FORM = /^([0-9a-f]{12})-[\w-]{43}$/;

export interface Session {
  role: Role;
  /** Is aborted when the session ends. */
  ended: AbortSignal;
  /** Marks the session as in use, so that it does not become idle, until the returned function is called. */
  use(): () => void;
  /** Ends the session and its streams. */
  end(): void;
}

/** The sessions of this process. Only digests of their secrets are kept, and only in memory, so a session is valid on no other server. */
export interface Sessions {
  /** Starts a session and returns its secret. The session ends at the latest when `tokenReplaced` is aborted. */
  begin(role: Role, tokenReplaced: AbortSignal): string;
  find(secret: string): Session | null;
  /** Tells whether a text has the form of a session secret, and whether this server issued it. */
  origin(text: string): 'own' | 'foreign' | 'none';
}

export function createSessions(now: () => number, maxPerRole = MAX_SESSIONS_PER_ROLE): Sessions {
  const instance = randomBytes(6).toString('hex');
  // The map is ordered by the last use.
  const sessions = new Map<string, Session & { isIdle(): boolean }>();

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
    find(secret) {
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
    origin(text) {
      const secretInstance = SECRET_FORM.exec(text)?.[1];
      if (secretInstance === undefined) return 'none';
      return secretInstance === instance ? 'own' : 'foreign';
    },
  };
}

const keyOf = (secret: string): string => digestOf(secret).toString('base64');
