import type { ServerResponse } from 'node:http';
import type { StateDirectory } from '../state/state-directory.ts';
import { liveToken } from './live-token.ts';
import { refuse } from './problem.ts';
import { createSessions, type Session } from './sessions.ts';
import { digestOf, ROLES, type Role } from './token.ts';

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

/** The rights of a request that needs none. */
export const ANYBODY: Grant = { role: 'read-only', session: null, ended: new AbortController().signal };

/** The reasons for refusing a bearer: a wrong token, an ended session, or a session of another server process. */
export type Denied = 'wrong-token' | 'ended-session' | 'foreign-session';

/** Decides what the bearer of a token or of a session may do. */
export interface AccessControl {
  /** The token that each role had when the server started. */
  tokens: Record<Role, string>;
  check(bearer: string, outgoing: ServerResponse): Grant | Denied;
  /** Starts a session with the rights of a token, and returns its secret. */
  logIn(grant: Grant): string;
  close(): void;
}

export function createAccess({ tokens }: StateDirectory, rotate: boolean, now: () => number): AccessControl {
  const live = ROLES.map((role) => ({ role, token: liveToken(tokens[role], rotate) }));
  const sessions = createSessions(now);
  const reload = (): void => {
    for (const { token } of live) token.reload();
  };
  const timer = setInterval(reload, RELOAD_MS).unref();

  const checkSession = (bearer: string, outgoing: ServerResponse): Grant | Denied => {
    const session = sessions.find(bearer);
    if (session === null) return 'ended-session';
    outgoing.once('close', session.use());
    return { role: session.role, session, ended: session.ended };
  };

  return {
    tokens: Object.fromEntries(live.map(({ role, token }) => [role, token.first])) as Record<Role, string>,
    check(bearer, outgoing) {
      reload();
      const origin = sessions.origin(bearer);
      if (origin === 'foreign') return 'foreign-session';
      if (origin === 'own') return checkSession(bearer, outgoing);
      const digest = digestOf(bearer);
      // Every token is compared, so that the time does not depend on which one matches.
      const [found] = live.filter(({ token }) => token.matches(digest));
      if (found === undefined) return 'wrong-token';
      return { role: found.role, session: null, ended: found.token.replaced() };
    },
    logIn({ role, ended, session }) {
      if (session !== null) refuse('not-allowed', 'a session cannot start another session', 'send the token');
      // The token may have been replaced while the rest of the request was on its way.
      reload();
      if (ended.aborted) refuse('no-token', 'this token was replaced');
      return sessions.begin(role, ended);
    },
    close: () => clearInterval(timer),
  };
}
