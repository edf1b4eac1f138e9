import type { ReadJob } from '../core/job-input.ts';
import { orNull } from '../core/or-null.ts';
import type { CommandTemplate } from '../core/template.ts';
import { looksLikeJson, noJob, parseJson, readJob } from './read-jobs.ts';
import { elements, lines, objects } from './split-chunks.ts';

/** A text in chunks. Every iteration starts at the beginning of the text. */
export type Chunks = Iterable<string>;

/** Reads jobs one by one: from a JSON array, JSON objects, or one command per line. With a template, each line is a value. */
export function* readJobFile(
  chunks: Chunks,
  template: CommandTemplate | null,
  now: number,
): Generator<ReadJob> {
  let isFound = false;
  for (const job of template === null ? readAny(chunks, now) : readTemplateValues(template, chunks, now)) {
    isFound = true;
    yield job;
  }
  if (!isFound) throw noJob('this file');
}

function readAny(chunks: Chunks, now: number): Generator<ReadJob> {
  const [first = ''] = chunks;
  if (/^\s*\[/.test(first)) return readArray(chunks, now);
  return startsLongObject(chunks) ? readObjects(chunks, now) : readLines(chunks, now);
}

/** Tells whether the first line with content, which is not a comment, starts a JSON object but is not valid JSON by itself. */
function startsLongObject(chunks: Chunks): boolean {
  for (const { text } of lines(chunks)) {
    if (isBlankOrComment(text)) continue;
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
    if (!isJson && isBlankOrComment(text)) continue;
    const read = (place: string): ReadJob =>
      readJob(isJson ? parseJson(text, place) : { command: withoutCarriageReturn(text) }, place, now);
    yield readWithoutPlace(read) ?? read(`line ${line}`);
  }
}

/** Reads a job without its place, because naming every place is slow. Returns null if an error or a warning has to name it. */
function readWithoutPlace(read: (place: string) => ReadJob): ReadJob | null {
  const job = orNull(() => read(''));
  return job?.warnings.length === 0 ? job : null;
}

/** Makes a job of each line with the template. Skips only empty lines, because a value may begin with # or {. */
function* readTemplateValues(template: CommandTemplate, chunks: Chunks, now: number): Generator<ReadJob> {
  for (const { text, line } of lines(chunks)) {
    const value = withoutCarriageReturn(text);
    if (value !== '') yield readJob({ command: template(value) }, `line ${line}`, now);
  }
}

function isBlankOrComment(text: string): boolean {
  return /^\s*(#|$)/.test(text);
}

function withoutCarriageReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
