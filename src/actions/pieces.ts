import { QueueError } from '../core/errors.ts';

/** A piece of a file, with the line it begins in. */
export interface Piece {
  text: string;
  line: number;
}

/** Nothing that makes sense as one job is longer, and memory has an end. */
const LONGEST = 16 * 1024 ** 2;

/** Text that comes in chunks, line by line. */
export function* lines(chunks: Iterable<string>): Generator<Piece> {
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
    if (rest.length > LONGEST) throw tooLong(line);
  }
  if (rest !== '') yield { text: rest, line };
}

/**
 * JSON objects that may span lines: cut at each newline outside strings and brackets. It only counts; what stands between
 * two cuts is for the JSON parser to judge.
 */
export function* objects(chunks: Iterable<string>): Generator<Piece> {
  for (const { text, line } of cut(chunks, '\n', 0)) yield { text, line };
}

/** The elements of a JSON array, cut at its commas in the same way. */
export function* elements(chunks: Iterable<string>): Generator<string> {
  let ended = false;
  let first = true;
  for (const { text, end } of cut(chunks, ',', -1)) {
    if (ended && text.trim() !== '') throw notJson('there is data after the array');
    // Behind the last comma stands an element; only an empty array has none.
    if (!ended && !(first && end && text.trim() === '')) yield text;
    first = false;
    ended ||= end;
  }
  if (!ended) throw notJson('the array is not closed');
}

interface Cut extends Piece {
  /** A bracket closed more than was opened: the end of the array. */
  end: boolean;
}

function* cut(chunks: Iterable<string>, separator: string, outside: -1 | 0): Generator<Cut> {
  let text = '';
  let start = 0;
  let at = 0;
  let [line, began] = [1, 1];
  let depth: number = outside;
  let quoted = false;
  for (const chunk of chunks) {
    text = text.slice(start) + chunk;
    at -= start;
    start = 0;
    if (at > LONGEST) throw tooLong(began);
    for (; at < text.length; at++) {
      const char = text[at]!;
      if (char === '\n') line++;
      if (quoted) {
        if (char === '\\') at++;
        else if (char === '"') quoted = false;
      } else if (char === '"') quoted = true;
      else if (char === '{' || char === '[') {
        // The bracket of the array itself.
        if (++depth === 0) start = at + 1;
      } else if (char === '}' || char === ']' ? --depth < 0 : char === separator && depth === 0) {
        yield { text: text.slice(start, at), line: began, end: depth < 0 };
        start = at + 1;
        began = line;
      }
    }
  }
  yield { text: text.slice(start), line: began, end: false };
}

function notJson(why: string): QueueError {
  return new QueueError('invalid-json', `this is not valid JSON: ${why}`);
}

function tooLong(line: number): QueueError {
  return new QueueError('invalid-job', `line ${line}: the job is larger than 16 MiB`);
}
