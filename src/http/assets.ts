import { gzipSync } from 'node:zlib';
import { ASSETS } from './assets.generated.ts';

const CACHED_FOR_A_YEAR = 'public, max-age=31536000, immutable';
const PAGES = /^\/(jobs|dlq|queues|schedules|workers|stats|activity|settings|doctor)?(\/[^/]*)?$/;

const zippedFiles = new Map<string, Uint8Array<ArrayBuffer>>();

/**
 * Returns a file of the dashboard, or null if there is none at this path. All pages are the same document. It links its files
 * by relative paths, because a proxy may serve the dashboard below a path that is unknown here.
 */
export function dashboardFile(path: string, acceptEncoding = ''): Response | null {
  const isPage = PAGES.test(path);
  const name = isPage ? '/index.html' : path;
  const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (asset === undefined) return null;
  const headers: Record<string, string> = {
    'content-type': asset.type,
    'cache-control': asset.hashed ? CACHED_FOR_A_YEAR : 'no-cache',
    vary: 'accept-encoding',
  };
  const pathToRoot = '../'.repeat(path.split('/').length - 2);
  const body = isPage ? asset.body.replaceAll('"/assets/', `"${pathToRoot}assets/`) : asset.body;
  if (!/\bgzip\b/.test(acceptEncoding)) return new Response(body, { headers });
  return new Response(zip(isPage ? pathToRoot : name, body), {
    headers: { ...headers, 'content-encoding': 'gzip' },
  });
}

/** Compresses a file on first use, and keeps the result in memory under `name`. */
function zip(name: string, body: string): Uint8Array<ArrayBuffer> {
  const known = zippedFiles.get(name) ?? gzipSync(body);
  zippedFiles.set(name, known);
  return known;
}
