import type { ReadJob } from '../core/job-input.ts';
import { orNull } from '../core/or-null.ts';
import type { CommandTemplate } from '../core/template.ts';
import { looksLikeJson } from './read-command.ts';
import { noJobsError, parseJson, readJob } from './read-jobs.ts';
import { splitElements, splitLines, splitObjects } from './split-chunks.ts';

/** A text in chunks. Every iteration starts at the beginning of the text. */
export type Chunks = Iterable<string>;

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
  if (/^\s*\[/.test(first)) return readArray(chunks, now);
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

function* readArray(chunks: Chunks, now: number): Generator<ReadJob> {
  let number = 0;
  for (const text of splitElements(chunks)) {
    const source = `job ${++number}`;
    yield readJob(parseJson(text, source), source, now);
  }
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
  const read = (source: string): ReadJob =>
    readJob(isJson ? parseJson(text, source) : { command: withoutCarriageReturn(text) }, source, now);
  return readWithoutSource(read) ?? read(`line ${line}`);
}

/** Reads a job with an empty source, because building a text such as "line 3" is slow. Returns null on an error or a warning. */
function readWithoutSource(read: (source: string) => ReadJob): ReadJob | null {
  const job = orNull(() => read(''));
  return job?.warnings.length === 0 ? job : null;
}

function isBlankOrComment(text: string): boolean {
  return /^\s*(#|$)/.test(text);
}

function withoutCarriageReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
