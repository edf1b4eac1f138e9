import type { ReadJob } from '../core/job-input.ts';
import { orNull } from '../core/or-null.ts';
import type { CommandTemplate } from '../core/template.ts';
import { looksLikeJson, noJob, parseJson, readJob } from './read-jobs.ts';
import { elements, lines, objects } from './split-chunks.ts';

/** A text in chunks. Each iteration starts at its beginning. */
export type Chunks = Iterable<string>;

/** Reads jobs one by one: a JSON array, JSON objects, or one command per line. With a template, each line is a value for it. */
export function* readJobFile(
  chunks: Chunks,
  template: CommandTemplate | null,
  now: number,
): Generator<ReadJob> {
  let some = false;
  for (const job of template === null ? readAny(chunks, now) : readWith(template, chunks, now)) {
    some = true;
    yield job;
  }
  if (!some) throw noJob('this file');
}

function readAny(chunks: Chunks, now: number): Generator<ReadJob> {
  const [first = ''] = chunks;
  if (/^\s*\[/.test(first)) return readArray(chunks, now);
  return isSpread(chunks) ? readObjects(chunks, now) : readLines(chunks, now);
}

/** Tells whether the first line begins a JSON object and does not end it. */
function isSpread(chunks: Chunks): boolean {
  for (const { text } of lines(chunks)) {
    if (isBlank(text)) continue;
    if (!text.trimStart().startsWith('{')) return false;
    return orNull(() => JSON.parse(text)) === null;
  }
  return false;
}

function* readArray(chunks: Chunks, now: number): Generator<ReadJob> {
  let number = 0;
  for (const text of elements(chunks)) {
    const place = `job ${++number}`;
    yield readJob(parseJson(text, place), place, now);
  }
}

function* readObjects(chunks: Chunks, now: number): Generator<ReadJob> {
  for (const { text, line } of objects(chunks)) {
    if (text.trim() === '') continue;
    yield readJob(parseJson(text, `line ${line}`), `line ${line}`, now);
  }
}

function* readLines(chunks: Chunks, now: number): Generator<ReadJob> {
  for (const { text, line } of lines(chunks)) {
    const isJson = looksLikeJson(text);
    if (!isJson && isBlank(text)) continue;
    const read = (place: string): ReadJob =>
      readJob(isJson ? parseJson(text, place) : { command: withoutReturn(text) }, place, now);
    yield flawless(read) ?? read(`line ${line}`);
  }
}

/** Returns the job if nothing is wrong with it. Naming the place of each job would make long files slow. */
function flawless(read: (place: string) => ReadJob): ReadJob | null {
  const job = orNull(() => read(''));
  return job?.warnings.length === 0 ? job : null;
}

/** Fills a template with each line. Only empty lines are skipped, because a file name may begin with # or {. */
function* readWith(template: CommandTemplate, chunks: Chunks, now: number): Generator<ReadJob> {
  for (const { text, line } of lines(chunks)) {
    const value = withoutReturn(text);
    if (value !== '') yield readJob({ command: template(value) }, `line ${line}`, now);
  }
}

function isBlank(text: string): boolean {
  return /^\s*(#|$)/.test(text);
}

function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
