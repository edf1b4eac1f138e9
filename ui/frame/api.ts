import { SHARED } from '../words/shared.ts';
import { mounted } from './mount.ts';
import { endSession, session } from './session.ts';

/** An error answer of the API, with a code from the error table. */
export class Problem extends Error {
  /** The HTTP status, or 0 if there was no answer. */
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;

  constructor(status: number, code: string, detail: string, hint: string | null = null) {
    super(detail);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }

  /** True if a repeated request would fail in the same way. */
  get lasting(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 401 && this.status !== 429;
  }

  /** Returns what is unavailable, the server or its store, or null if neither is. */
  get away(): 'away' | 'store-away' | null {
    if (this.status === 0 || this.code.startsWith('http-5')) return 'away';
    return this.status >= 500 && this.code !== 'too-many-streams' ? 'store-away' : null;
  }
}

const BASE = mounted('/api/v1');

/** Sends a request with the session, or with `bearer`. Throws a Problem for every answer that is not a success. */
export async function call(
  method: string,
  path: string,
  options: RequestInit = {},
  bearer = session.value,
): Promise<Response> {
  if (bearer === null) throw new Problem(401, 'no-token', SHARED.notLoggedIn);
  const headers = { ...(options.headers as Record<string, string>), authorization: `Bearer ${bearer}` };
  let response: Response;
  try {
    response = await fetch(BASE + path, { ...options, method, headers });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new Problem(0, 'server-away', SHARED.noAnswer, 'queuectl serve');
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  // The wrong tokens of others never block a valid session, so this session has ended.
  if ([401, 421].includes(problem.status) || problem.code === 'too-many-tries')
    endSession(bearer, /^(server-|wrong-h)/.test(problem.code) ? 'restarted' : 'ended');
  throw problem;
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    const { code, detail, hint } = await response.json();
    return new Problem(response.status, code, detail, hint);
  } catch {
    return new Problem(response.status, `http-${response.status}`, response.statusText);
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await call('GET', path, signal === undefined ? {} : { signal })).json();
}

export async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const options =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const response = await call(method, path, options);
  return response.status === 204 ? (undefined as T) : response.json();
}

/** Encodes a part of a path. */
export const part = encodeURIComponent;
