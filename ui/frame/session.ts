import { signal } from '@preact/signals';
import { MOUNT } from './mount.ts';

/** The reason why the page asks for the token. */
export type LoginReason =
  | 'first'
  | 'restarted'
  | 'ended'
  | 'logged-out'
  | 'rejected'
  | 'throttled'
  | 'no-answer';

const KEY = `queuectl-session ${MOUNT}`;
const WHY = `queuectl-session-ended ${MOUNT}`;

/**
 * The secret of a session with the server that was running at login. All tabs share it. It is worthless to any other
 * server, so that a program that takes the port later learns nothing from this page. The token itself is never stored.
 */
export const session = signal(localStorage.getItem(KEY));
export const loginReason = signal(lastReason());

function lastReason(): LoginReason {
  return (localStorage.getItem(WHY) as LoginReason | null) ?? 'first';
}

export function beginSession(secret: string): void {
  localStorage.removeItem(WHY);
  localStorage.setItem(KEY, secret);
  session.value = secret;
}

/** Ends the session `secret` in all tabs, unless another one has replaced it. */
export function endSession(secret: string, why: LoginReason): void {
  if (session.value !== secret) return;
  const stored = localStorage.getItem(KEY);
  if (stored !== null && stored !== secret) {
    session.value = stored;
    return;
  }
  localStorage.setItem(WHY, why);
  localStorage.removeItem(KEY);
  loginReason.value = why;
  session.value = null;
}

/** Follows what other tabs do: a login or a logout there is one here. */
export function startSession(): void {
  addEventListener('storage', ({ key }) => {
    if (key !== KEY && key !== null) return;
    loginReason.value = lastReason();
    session.value = localStorage.getItem(KEY);
  });
}
