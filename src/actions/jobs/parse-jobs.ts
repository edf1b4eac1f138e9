import { QueueError } from '../../core/errors.ts';
import { type JobInput, type ReadJob, readJobObject } from '../../core/jobs/job-input.ts';
import type { CommandTemplate } from '../../core/jobs/template.ts';
import { orNull } from '../../core/text/language.ts';
import { nearest } from '../../core/text/nearest.ts';
import { formatBytes } from '../../core/text/numbers.ts';
import { looksLikeJson } from './enqueue.ts';

export interface ParsedJobs {
  inputs: JobInput[];
  warnings: string[];
}

const MAX_DEPTH = 32;

/** Reads a JSON text with one job object, or with an array of them that is not empty. */
export function readJsonJobs(text: string, now: number): ParsedJobs {
  const value = parseJson(text, 'this');
  if (Array.isArray(value) && value.length === 0) throw noJobsError('the array');
  const jobs = Array.isArray(value) ? [...readJsonArray(value, now)] : [readJob(value, '', now)];
  return { inputs: jobs.map((one) => one.input), warnings: jobs.flatMap((one) => one.warnings) };
}

/** Reads the jobs of an array one by one. */
function* readJsonArray(array: unknown[], now: number): Generator<ReadJob> {
  for (const [i, value] of array.entries()) yield readJob(value, `job ${i + 1}`, now);
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

function noJobsError(where: string): QueueError {
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

/** A text in chunks. Every iteration starts at the beginning of the text. */
export type Chunks = Iterable<string>;

/** The maximum length of a JSON array in characters, because it is read as a whole. */
const MAX_ARRAY_LENGTH = 64 * 1024 ** 2;

/** Reads jobs one by one: a JSON array, JSON objects, or one command per line. With a template, each line is a value for it. */
export function* readJobFile(chunks: Chunks, template: CommandTemplate | null, now: number) {
  let hasJobs = false;
  const jobs = template === null ? readJsonOrLines(chunks, now) : readLines(chunks, template, now);
  for (const job of jobs) {
    hasJobs = true;
    yield job;
  }
  if (!hasJobs) throw noJobsError('this file');
}

function readJsonOrLines(chunks: Chunks, now: number): Generator<ReadJob> {
  const [first = ''] = chunks;
  if (/^\s*\[/.test(first)) return readJsonArray(parseJson(arrayText(chunks), 'this') as unknown[], now);
  return startsMultilineObject(chunks) ? readObjects(chunks, now) : readLines(chunks, null, now);
}

/** Tells whether the first line that is neither blank nor a comment begins with { and is not valid JSON by itself. */
function startsMultilineObject(chunks: Chunks): boolean {
  for (const { text } of splitLines(chunks)) {
    if (isBlankOrComment(text)) continue;
    if (!text.trimStart().startsWith('{')) return false;
    return orNull(() => JSON.parse(text)) === null;
  }
  return false;
}

function arrayText(chunks: Chunks): string {
  let text = '';
  for (const chunk of chunks) {
    text += chunk;
    if (text.length > MAX_ARRAY_LENGTH)
      throw new QueueError(
        'invalid-job',
        `the JSON array is larger than ${formatBytes(MAX_ARRAY_LENGTH)}`,
        "write one job per line, which has no limit: jq -c '.[]' FILE | queuectl enqueue --file -",
      );
  }
  return text;
}

function* readObjects(chunks: Chunks, now: number): Generator<ReadJob> {
  for (const { text, line } of splitObjects(chunks)) {
    if (text.trim() === '') continue;
    yield readJob(parseJson(text, `line ${line}`), `line ${line}`, now);
  }
}

function* readLines(chunks: Chunks, template: CommandTemplate | null, now: number): Generator<ReadJob> {
  for (const { text, line } of splitLines(chunks)) {
    const job = readJobLine(text, line, template, now);
    if (job !== null) yield job;
  }
}

/**
 * Reads the job of one line: a JSON object, a command, or with a template a value for it. Returns null for a line to skip. With a
 * template that is only an empty line, because a value may begin with # or {.
 */
export function readJobLine(
  text: string,
  line: number,
  template: CommandTemplate | null,
  now: number,
): ReadJob | null {
  if (template !== null) {
    const value = withoutCarriageReturn(text);
    return value === '' ? null : readJob({ command: template(value) }, `line ${line}`, now);
  }
  const isJson = looksLikeJson(text);
  if (!isJson && isBlankOrComment(text)) return null;
  const source = `line ${line}`;
  return readJob(isJson ? parseJson(text, source) : { command: withoutCarriageReturn(text) }, source, now);
}

function isBlankOrComment(text: string): boolean {
  return /^\s*(#|$)/.test(text);
}

function withoutCarriageReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

/** A part of a text, with the number of the line in which it begins. */
export interface TextPart {
  text: string;
  line: number;
}

/** The maximum number of characters in a part, because a part has to fit in memory. */
const MAX_PART_LENGTH = 16 * 1024 ** 2;

/** Splits a text into lines. Throws the result of `tooLong` if a line exceeds the maximum length and is still incomplete. */
export function* splitLines(chunks: Iterable<string>, tooLong = jobTooLong): Generator<TextPart> {
  let rest = '';
  let line = 1;
  for (const chunk of chunks) {
    const text = rest + chunk;
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      yield { text: text.slice(start, end), line: line++ };
      start = end + 1;
    }
    rest = text.slice(start);
    if (rest.length > MAX_PART_LENGTH) throw tooLong(line);
  }
  if (rest !== '') yield { text: rest, line };
}

/** Splits a text into JSON objects, at each newline outside strings and brackets. Does not check the JSON. */
function* splitObjects(chunks: Iterable<string>): Generator<TextPart> {
  let text = '';
  let start = 0;
  let at = 0;
  let [line, partLine] = [1, 1];
  let depth = 0;
  let inString = false;
  for (const chunk of chunks) {
    text = text.slice(start) + chunk;
    at -= start;
    start = 0;
    if (at > MAX_PART_LENGTH) throw jobTooLong(partLine);
    for (; at < text.length; at++) {
      const char = text[at]!;
      if (char === '\n') line++;
      if (inString) {
        if (char === '\\') at++;
        else if (char === '"') inString = false;
      } else if (char === '"') inString = true;
      else if (char === '{' || char === '[') depth++;
      else if (char === '}' || char === ']') depth--;
      else if (char === '\n' && depth === 0) {
        yield { text: text.slice(start, at), line: partLine };
        start = at + 1;
        partLine = line;
      }
    }
  }
  yield { text: text.slice(start), line: partLine };
}

function jobTooLong(line: number): QueueError {
  return new QueueError('invalid-job', `line ${line}: the job is larger than 16 MiB`);
}
