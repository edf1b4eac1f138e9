import { gzipSync } from 'node:zlib';
import { ASSETS } from './assets.generated.ts';

const DOCUMENT = '/index.html';
const CACHED_FOR_A_YEAR = 'public, max-age=31536000, immutable';
/** Matches the paths of pages. Only the lists of jobs, queues, schedules and workers have a page for each entry. */
const PAGES =
  /^\/(?:(?:jobs|queues|schedules|workers)(?:\/[^/]*)?|(?:dlq|stats|activity|settings|doctor)\/?)?$/;

const zippedFiles = new Map<string, Uint8Array<ArrayBuffer>>();

/**
 * Returns a file of the dashboard, or null if there is none at this path. All pages are the same document. It links its files
 * by relative paths, because a proxy may serve the dashboard below a path that is unknown here.
 */
export function dashboardFile(path: string, acceptEncoding = ''): Response | null {
  const isPage = PAGES.test(path);
  const name = isPage ? DOCUMENT : path;
  const asset = isPage || (name !== DOCUMENT && Object.hasOwn(ASSETS, name)) ? ASSETS[name] : undefined;
  if (asset === undefined) return null;
  const headers: Record<string, string> = {
    'content-type': asset.type,
    'cache-control': asset.hashed ? CACHED_FOR_A_YEAR : 'no-cache',
    vary: 'accept-encoding',
  };
  const pathToRoot = pathToRootFrom(path);
  const body = isPage ? documentAt(pathToRoot) : asset.body;
  if (!/\bgzip\b/.test(acceptEncoding)) return new Response(body, { headers });
  return new Response(zip(isPage ? pathToRoot : name, body), {
    headers: { ...headers, 'content-encoding': 'gzip' },
  });
}

/** Returns the relative path from a page to the root of the dashboard. */
const pathToRootFrom = (path: string): string => '../'.repeat(path.split('/').length - 2);

const documentAt = (pathToRoot: string): string =>
  ASSETS[DOCUMENT]!.body.replaceAll('"/assets/', `"${pathToRoot}assets/`);

/** Returns the document with status 404, for a path of no page. It is the same for every client, so it reveals nothing about the store. */
export function missingPage(path: string): Response {
  return new Response(documentAt(pathToRootFrom(path)), {
    status: 404,
    headers: { 'content-type': ASSETS[DOCUMENT]!.type, vary: 'accept' },
  });
}

/**
 * Returns true if the client is a browser that opens a page: it asks for HTML and not for JSON. Programs such as curl accept
 * anything, and get the same errors as on all other paths. Paths of the API never answer with a page.
 */
export function wantsPage(path: string, accept = ''): boolean {
  return !/^\/api(\/|$)/.test(path) && /\btext\/html\b/i.test(accept) && !/\bjson\b/i.test(accept);
}

/** Compresses a file on first use, and keeps the result in memory under `name`. */
function zip(name: string, body: string): Uint8Array<ArrayBuffer> {
  const zipped = zippedFiles.get(name) ?? gzipSync(body);
  zippedFiles.set(name, zipped);
  return zipped;
}
