import { formatDuration } from '../core/duration.ts';
import { formatBytes } from '../core/numbers.ts';
import { checkBodyType } from './guard.ts';
import { refuse } from './problem.ts';
import type { Route } from './route.ts';

const MAX_BODY_BYTES = 1024 * 1024;
const BODY_TIMEOUT_MS = 15_000;

/** Reads and parses the body of a request, or returns undefined if it has none. Throws if it is invalid, too large or too slow. */
export async function readBody(route: Route, request: Request): Promise<unknown> {
  if (route.method === 'GET') return undefined;
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) refuseTooLarge();
  const body = await textOf(request.body);
  checkBodyType(route, request.headers.get('content-type') ?? undefined, body !== '');
  if (body === '') {
    if (route.body !== undefined) refuse('invalid-json', 'the body is empty', JSON_HINT);
    return undefined;
  }
  if (route.body === undefined) refuse('invalid-request', 'this request takes no body');
  try {
    return JSON.parse(body);
  } catch {
    return refuse('invalid-json', 'the body is not valid JSON', JSON_HINT);
  }
}

const JSON_HINT = 'send one JSON document';

async function textOf(stream: ReadableStream<Uint8Array> | null): Promise<string> {
  if (stream === null) return '';
  const reader = stream.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reader.cancel().catch(() => {});
  }, BODY_TIMEOUT_MS);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate) refuse('too-slow', `the body must arrive within ${formatDuration(BODY_TIMEOUT_MS)}`);
      if (done) break;
      size += value.length;
      if (size > MAX_BODY_BYTES) refuseTooLarge();
      pieces.push(value);
    }
  } finally {
    clearTimeout(timer);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    return refuse('invalid-json', 'the body is not valid UTF-8', JSON_HINT);
  }
}

function refuseTooLarge(): never {
  refuse('too-large', `the body is larger than ${formatBytes(MAX_BODY_BYTES)}`);
}
