import { refuse } from './problem.ts';
import type { Route } from './route.ts';

/** What a browser may do with our answers: show them, and nothing else. */
export const SAFE_HEADERS: Record<string, string> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const LONGEST_URL = 8192;
const LONGEST_BEARER = 512;

/** The target as it was sent: a path that means only one thing, or nothing at all. */
export function checkTarget(target: string): void {
  if (target.length > LONGEST_URL) refuse('invalid-request', 'the URL is too long');
  const path = target.split('?', 1)[0]!;
  const odd = !path.startsWith('/') || path.startsWith('//') || /[\\\0]|%00/i.test(path);
  // Dots would be resolved before a route is looked for. Within a part, as in an id, they are just text.
  if (odd || path.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part)))
    refuse('invalid-request', 'the path of the URL is not normalized');
  for (const part of target.split(/[/?&=]/)) {
    try {
      if (decodeURIComponent(part.replaceAll('+', ' ')).includes('\0'))
        refuse('invalid-request', 'the URL contains a NUL character');
    } catch (error) {
      if (error instanceof URIError) refuse('invalid-request', 'the URL has an invalid escape sequence');
      throw error;
    }
  }
}

/** Where a body ends must be the same to everybody on its way. */
export function checkCoding(coding: string | undefined): void {
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    refuse('unknown-coding', 'the only supported transfer encoding is chunked');
}

/** Exactly one of the names this server answers to: a page elsewhere that resolves to us has another one. */
export function checkHost(host: string | undefined, names: ReadonlySet<string>): void {
  if (host === undefined || !names.has(host.toLowerCase()))
    refuse(
      'wrong-host',
      'this server does not accept that host name',
      'use the address that the server printed',
    );
}

/** Two headers of one name arrive as one text with a comma, which no token has. */
export function bearer(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.length > LONGEST_BEARER) return null;
  return /^Bearer ([\w-]+)$/i.exec(authorization)?.[1] ?? null;
}

/** A mutation comes from a program, or from our own page. */
export function checkOrigin(
  header: (name: string) => string | undefined,
  origins: ReadonlySet<string>,
): void {
  const origin = header('origin')?.toLowerCase();
  const own = origin === undefined || origins.has(origin);
  const site = header('sec-fetch-site');
  if (!own || (site !== undefined && site !== 'same-origin' && site !== 'none'))
    refuse('not-allowed', 'requests from another site cannot change anything');
}

export function checkBodyType(route: Route, type: string | undefined, hasBody: boolean): void {
  if (route.body === undefined && !hasBody) return;
  if (!/^application\/json *(;|$)/i.test(type ?? ''))
    refuse('unsupported-type', 'the content type of the body must be application/json');
}

/**
 * A bucket that fills again by so much per second. Whoever takes from it is answered 0, or after how many seconds it is no
 * longer empty. What costs more than is in it is let through and owed, so that nothing is too much for ever.
 */
export function bucket(now: () => number, perSecond: number, most: number): (cost?: number) => number {
  let left = most;
  let at = now();
  return (cost = 1) => {
    left = Math.min(most, left + ((now() - at) / 1000) * perSecond);
    at = now();
    if (left < 1) return Math.ceil((1 - left) / perSecond);
    left -= cost;
    return 0;
  };
}
