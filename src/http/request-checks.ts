import { availableTokens, type Tokens } from '../core/rules/queue.ts';
import { refuse } from './problem.ts';
import type { ApiRequest, Route } from './route.ts';

/** Headers of every answer that sets no others. They keep a browser from caching answers and loading anything from other sites, and other sites from embedding an answer. */
export const SAFE_HEADERS: Record<string, string> = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const MAX_URL_LENGTH = 8192;
const MAX_AUTHORIZATION_LENGTH = 512;

/** Throws unless the request target is a normalized path that every program reads in the same way. */
export function checkRequestTarget(target: string): void {
  if (target.length > MAX_URL_LENGTH) refuse('invalid-request', 'the URL is too long');
  const path = target.split('?', 1)[0]!;
  const isUnusual = !path.startsWith('/') || path.startsWith('//') || /[\\\0]|%00/i.test(path);
  // A part of one or two dots would be resolved before routing. Dots in a longer part, as in an id, are plain text.
  if (isUnusual || path.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part)))
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

/** Throws for a transfer encoding other than chunked, because a proxy might find another end of the body. */
export function checkTransferEncoding(coding: string | undefined): void {
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    refuse('unknown-coding', 'the only supported transfer encoding is chunked');
}

/** Throws unless the host is a name of this server. A page that uses DNS rebinding has another host name. */
export function checkHost(
  host: string | undefined,
  names: ReadonlySet<string>,
  detail = 'this server does not accept that host name',
): void {
  if (host === undefined || !names.has(host.toLowerCase()))
    refuse('wrong-host', detail, 'use the address that the server printed');
}

/** Returns the bearer token, or null if there is no valid one. Two headers arrive as one text with a comma, which no token contains. */
export function bearerOf(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.length > MAX_AUTHORIZATION_LENGTH) return null;
  return /^Bearer ([\w-]+)$/i.exec(authorization)?.[1] ?? null;
}

/** Throws if a change was requested by a page of another site. */
export function checkOrigin(header: ApiRequest['header'], origins: ReadonlySet<string>): void {
  const origin = header('origin')?.toLowerCase();
  const isOwnOrigin = origin === undefined || origins.has(origin);
  const site = header('sec-fetch-site');
  if (!isOwnOrigin || (site !== undefined && site !== 'same-origin' && site !== 'none'))
    refuse('not-allowed', 'requests from another site cannot change anything');
}

/** Throws if the content type is not JSON, unless there is no body and the route needs none. */
export function checkBodyType(route: Route, type: string | undefined, hasBody: boolean): void {
  if (route.body === undefined && !hasBody) return;
  if (!/^application\/json *(;|$)/i.test(type ?? ''))
    refuse('unsupported-type', 'the content type of the body must be application/json');
}

/**
 * Creates a token bucket that is refilled by `perSecond` and holds what `burstMs` adds. A call takes `cost` from it and returns 0.
 * If less than 1 is left, the call takes nothing and returns the seconds to wait. A high cost may make the level negative.
 */
export function tokenBucket(
  now: () => number,
  perSecond: number,
  burstMs: number,
): (cost?: number) => number {
  let last: Tokens | null = null;
  return (cost = 1) => {
    const { tokens, openAt, at } = availableTokens({ jobs: perSecond, perMs: 1000 }, last, now(), burstMs);
    if (openAt > 0) return Math.ceil((openAt - at) / 1000);
    last = { left: tokens - cost, at };
    return 0;
  };
}
