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

/** The grant of a request that needs no token. */
export const OPEN_GRANT: Grant = { role: 'read-only', session: null, ended: new AbortController().signal };

/** Why a token or session is refused: the token is wrong, or the session has ended or belongs to another server process. */
export type DenialReason = 'wrong-token' | 'ended-session' | 'foreign-session';

/** Decides what the bearer of a token or of a session may do. */
export interface AccessControl {
  /** The token that each role had when the server started. */
  tokens: Record<Role, string>;
  /** Returns the rights of a token or session, or why it is refused. A session is in use until `outgoing` closes. */
  check(bearer: string, outgoing: ServerResponse): Grant | DenialReason;
  /** Starts a session with the rights of a token, and returns its secret. */
  logIn(grant: Grant): string;
  close(): void;
}

export function createAccessControl(
  { tokens }: StateDirectory,
  rotate: boolean,
  now: () => number,
): AccessControl {
  const liveTokens = ROLES.map((role) => ({ role, token: liveToken(tokens[role], rotate) }));
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
    tokens: Object.fromEntries(liveTokens.map(({ role, token }) => [role, token.initial])) as Record<
      Role,
      string
    >,
    check(bearer, outgoing) {
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
