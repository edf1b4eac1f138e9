import { createHmac } from 'node:crypto';

const MAC_DIGITS = 32;
const MAC = /-[0-9a-f]{32}$/;

/** Returns the cookie of an attempt with this name: the name and a MAC of it by the key, or without a key the name alone. */
export function makeCookie(key: Buffer | null, name: string): string {
  if (key === null) return name;
  return `${name}-${createHmac('sha256', key).update(name).digest('hex').slice(0, MAC_DIGITS)}`;
}

/** Returns the name of the attempt that a cookie is for, whether or not its MAC is right. */
export function nameIn(cookie: string): string {
  return cookie.replace(MAC, '');
}

/**
 * Tells whether a process that carries the first cookie belongs to the attempt with the second. Anybody can read the name of
 * an attempt in a list of processes and give it to a process of his. Only this user can make the MAC, and only he has
 * processes that run as him: for those the name is enough, so that a job which was started before there was a key is found.
 */
export function isCookieOf(carried: string, cookie: string, isOwnProcess: () => boolean): boolean {
  const name = nameIn(carried);
  if (name !== nameIn(cookie)) return false;
  return (carried === cookie && carried !== name) || isOwnProcess();
}
