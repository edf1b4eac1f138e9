import { expect } from 'bun:test';
import type { Answer, CallOptions, Site } from '../../support/http.ts';
import { type Sandbox, until } from '../../support/queuectl.ts';

/** One server with one worker, shared by all topics. Each topic uses its own ids and queues. */
export interface Api {
  box: Sandbox;
  site: Site;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the server sends
type Json = any;

/** Returns the JSON of an answer, which must have this status. */
export async function ok(
  site: Site,
  method: string,
  path: string,
  body?: unknown,
  status = 200,
): Promise<Json> {
  const answer = await site.call(method, path, body === undefined ? {} : { body });
  if (answer.status !== status)
    throw new Error(`${method} ${path}: ${answer.status} instead of ${status}: ${answer.text}`);
  return answer.json;
}

/** Expects a refusal with this status and code, and returns the answer. */
export async function refused(
  site: Site,
  [method, path]: [string, string],
  how: CallOptions,
  expected: [status: number, code: string],
): Promise<Answer> {
  const answer = await site.call(method, path, how);
  expect([answer.status, answer.json?.code]).toEqual(expected);
  return answer;
}

export const add = (site: Site, job: object): Promise<Json> => ok(site, 'POST', '/api/v1/jobs', job, 201);

export const later = { delay: '1d' };

export const pathOf = (id: string): string => `/api/v1/jobs/${encodeURIComponent(id)}`;

export function untilJob(site: Site, id: string, state: string): Promise<Json> {
  return until(async () => {
    const job = await ok(site, 'GET', pathOf(id));
    return job.state === state ? job : false;
  }, `job ${id} is ${state}`);
}
