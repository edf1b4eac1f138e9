import { signal } from '@preact/signals';
import { notifyError } from '../parts/toasts.ts';
import { call, Problem } from './api.ts';
import { beginSession, endSession, type LoginReason, loginReason, session } from './session.ts';

/** True while a token is being exchanged for a session. */
export const entering = signal(false);

/** Takes the token from the fragment, which no browser sends anywhere, and removes it from the address bar. */
export function takeToken(): void {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (given === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  void logIn(given);
}

/** Exchanges the token for a session, once. A token that fails is forgotten and never sent again. */
export async function logIn(token: string): Promise<void> {
  entering.value = true;
  try {
    const response = await call('POST', '/session', {}, token);
    beginSession((await response.json()).session);
  } catch (error) {
    // A working session is kept, because a link with a wrong token must not log anybody out.
    if (session.value !== null) notifyError(error);
    loginReason.value = reasonOf(error);
  }
  entering.value = false;
}

function reasonOf(error: unknown): LoginReason {
  if (!(error instanceof Problem) || error.status === 0 || error.status >= 500) return 'no-answer';
  return error.status === 429 ? 'throttled' : 'rejected';
}

/** Ends the session on the server, with its streams, and in all tabs. */
export async function logOut(): Promise<void> {
  const secret = session.value;
  if (secret === null) return;
  // A server that does not answer has ended, and its sessions with it.
  await call('DELETE', '/session').catch(() => {});
  endSession(secret, 'logged-out');
}
