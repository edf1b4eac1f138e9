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

/** Makes a request, expects this status, and returns the JSON of the answer. */
export async function expectOk(
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

/** Makes a request, expects a refusal with this status and code, and returns the answer. */
export async function expectRefused(
  site: Site,
  [method, path]: [string, string],
  options: CallOptions,
  expected: [status: number, code: string],
): Promise<Answer> {
  const answer = await site.call(method, path, options);
  expect([answer.status, answer.json?.code]).toEqual(expected);
  return answer;
}

/** Adds a job, or an array of jobs, and returns the JSON of the answer. */
export const addJobs = (site: Site, jobs: object): Promise<Json> =>
  expectOk(site, 'POST', '/api/v1/jobs', jobs, 201);

/** A delay with which no worker starts a job during a test. */
export const TOMORROW = { delay: '1d' };

export const pathOfJob = (id: string): string => `/api/v1/jobs/${encodeURIComponent(id)}`;

export function untilJob(site: Site, id: string, state: string): Promise<Json> {
  return until(async () => {
    const job = await expectOk(site, 'GET', pathOfJob(id));
    return job.state === state ? job : false;
  }, `job ${id} is ${state}`);
}
