import { createHmac } from 'node:crypto';

const MAC_DIGITS = 32;
const MAC = /-[0-9a-f]{32}$/;

/** Returns the cookie of the attempt with this name: the name and its MAC or, without a key, the name alone. */
export function makeCookie(key: Buffer | null, name: string): string {
  if (key === null) return name;
  return `${name}-${createHmac('sha256', key).update(name).digest('hex').slice(0, MAC_DIGITS)}`;
}

/** Returns the name of the attempt that a cookie is for, whether or not its MAC is right. */
export function nameIn(cookie: string): string {
  return cookie.replace(MAC, '');
}

/**
 * Tells whether a process that carries the cookie `carried` belongs to the attempt with `cookie`. Other users can read the name
 * of an attempt in a list of processes and give it to their own processes, but they cannot make the MAC. For a process of this
 * user (`isOwnProcess`) the name is enough, so that a job which started before the key existed is found.
 */
export function cookieMatches(carried: string, cookie: string, isOwnProcess: () => boolean): boolean {
  const name = nameIn(carried);
  if (name !== nameIn(cookie)) return false;
  return (carried === cookie && carried !== name) || isOwnProcess();
}
