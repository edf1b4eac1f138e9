import type { ReadJob } from '../core/job-input.ts';
import type { CommandTemplate } from '../core/template.ts';
import { elements, lines, objects } from './pieces.ts';
import { looksLikeJson, noJob, parseJson, readJob } from './read-jobs.ts';

/** Text in chunks, from its beginning each time it is asked for. */
export type Chunks = Iterable<string>;

/**
 * A JSON array, JSON lines, JSON objects over several lines, or a command a line; with a template anything a line. The
 * jobs come one by one, so that a file of any length needs no room.
 */
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
  for (const chunk of chunks) {
    if (/^\s*\[/.test(chunk)) return readArray(chunks, now);
    break;
  }
  return isSpread(chunks) ? readObjects(chunks, now) : readLines(chunks, now);
}

/** The first line begins a JSON object and does not end it. */
function isSpread(chunks: Chunks): boolean {
  for (const { text } of lines(chunks)) {
    if (isBlank(text)) continue;
    if (!text.trimStart().startsWith('{')) return false;
    try {
      JSON.parse(text);
      return false;
    } catch {
      return true;
    }
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

/** A place is worded only where something is wrong: in a long file that would be most of the words. */
function flawless(read: (place: string) => ReadJob): ReadJob | null {
  try {
    const job = read('');
    return job.warnings.length === 0 ? job : null;
  } catch {
    return null;
  }
}

/** Here nothing but an empty line is special: a file name may begin with # or {. */
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
