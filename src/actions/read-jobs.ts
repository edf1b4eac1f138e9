import { checkCommand } from '../core/command-text.ts';
import { QueueError } from '../core/errors.ts';
import { type JobInput, readJobObject } from '../core/job-input.ts';

export interface ReadJobs {
  inputs: JobInput[];
  warnings: string[];
}

const MAX_DEPTH = 32;

/** An argument that begins with `{` or `[` is JSON and nothing else; everything else is a shell command. */
export function looksLikeJson(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

/** One job object, or an array of them. */
export function readJsonJobs(text: string, now: number): ReadJobs {
  const value = parseJson(text, 'this');
  if (!Array.isArray(value)) return readAll([value], () => '', now);
  if (value.length === 0) throw new QueueError('invalid-job', 'the array holds no job');
  return readAll(value, (i) => `job ${i + 1}: `, now);
}

/** A JSON array, JSON lines, or a command a line. */
export function readJobFile(text: string, now: number): ReadJobs {
  const body = text.replace(/^\uFEFF/, '');
  if (/^\s*\[/.test(body)) return readJsonJobs(body, now);
  const whole = /^\s*\{/.test(body) ? tryJson(body) : undefined;
  if (whole !== undefined) return readAll([whole], () => '', now);
  const lines = body.split('\n').map((line, i) => ({ text: line.replace(/\r$/, ''), at: i + 1 }));
  const filled = lines.filter((line) => line.text.trim() !== '' && !line.text.trimStart().startsWith('#'));
  if (filled.length === 0) throw new QueueError('invalid-job', 'there is no job in this file');
  const values = filled.map((line) =>
    looksLikeJson(line.text) ? parseJson(line.text, `line ${line.at}`) : { command: line.text },
  );
  return readAll(values, (i) => `line ${filled[i]!.at}: `, now);
}

function readAll(values: unknown[], position: (i: number) => string, now: number): ReadJobs {
  const warnings: string[] = [];
  const inputs = values.map((value, i) => {
    try {
      const read = readJobObject(value, now);
      for (const warning of read.warnings) warnings.push(position(i) + warning);
      if (read.input.command === undefined && read.input.argv === undefined) {
        throw new QueueError('invalid-job', 'command is missing');
      }
      return read.input;
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      throw new QueueError(error.code, position(i) + error.message, error.hint ?? undefined);
    }
  });
  return { inputs, warnings };
}

export function readCommand(text: string): JobInput {
  return { command: checkCommand(text, 'command') };
}

function parseJson(text: string, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new QueueError('invalid-json', `${what} is not valid JSON: ${(error as Error).message}`);
  }
  if (depth(value, MAX_DEPTH) > MAX_DEPTH)
    throw new QueueError('invalid-json', `${what} is nested more than ${MAX_DEPTH} levels deep`);
  return value;
}

function tryJson(text: string): unknown {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return parseJson(text, 'this');
}

/** Stops counting beyond the limit, so that hostile input cannot exhaust the stack. */
function depth(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (limit < 0) return 1;
  let deepest = 0;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depth(inner, limit - 1));
  return deepest + 1;
}
