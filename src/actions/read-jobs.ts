import { QueueError } from '../core/errors.ts';
import { type JobInput, type ReadJob, readJobObject } from '../core/job-input.ts';
import { nearest } from '../core/nearest.ts';

export interface ReadJobs {
  inputs: JobInput[];
  warnings: string[];
}

const MAX_DEPTH = 32;

/** Reads a JSON text with one job object, or with an array of them that is not empty. */
export function readJsonJobs(text: string, now: number): ReadJobs {
  const value = parseJson(text, 'this');
  if (Array.isArray(value) && value.length === 0) throw noJobsError('the array');
  const jobs = Array.isArray(value)
    ? value.map((one, i) => readJob(one, `job ${i + 1}`, now))
    : [readJob(value, '', now)];
  return { inputs: jobs.map((one) => one.input), warnings: jobs.flatMap((one) => one.warnings) };
}

/** Reads one job. Errors and warnings begin with `source`, such as "line 3", unless it is empty. */
export function readJob(value: unknown, source: string, now: number): ReadJob {
  const prefix = source === '' ? '' : `${source}: `;
  try {
    const read = readJobObject(value, now);
    if (read.input.command === undefined && read.input.argv === undefined) {
      throw new QueueError('invalid-job', `command is missing${misspellingHint(value as object)}`);
    }
    if (read.warnings.length === 0) return read;
    return { input: read.input, warnings: read.warnings.map((warning) => prefix + warning) };
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
    throw new QueueError(error.code, prefix + error.message, error.hint ?? undefined);
  }
}

function misspellingHint(value: object): string {
  const misspelt = Object.keys(value).find((key) => key !== 'command' && nearest(key, ['command']) !== null);
  return misspelt === undefined ? '' : `; did you mean 'command' instead of '${misspelt}'?`;
}

export function noJobsError(where: string): QueueError {
  return new QueueError('invalid-job', `there are no jobs in ${where}`);
}

/** Parses JSON. Errors begin with `what`, the name of the text. Throws if the value is nested too deeply. */
export function parseJson(text: string, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = (error as Error).message.replace(/^JSON Parse error: /, '');
    throw new QueueError('invalid-json', `${what} is not valid JSON: ${why}`);
  }
  if (depth(value, MAX_DEPTH) > MAX_DEPTH)
    throw new QueueError('invalid-json', `${what} is nested more than ${MAX_DEPTH} levels deep`);
  return value;
}

/** Returns how deep a value is nested. Stops beyond the limit, so that hostile input cannot exhaust the stack. */
function depth(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (limit < 0) return 1;
  let deepest = 0;
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key];
    if (typeof inner === 'object') deepest = Math.max(deepest, depth(inner, limit - 1));
  }
  return deepest + 1;
}
