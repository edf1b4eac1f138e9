import { QueueError } from '../core/errors.ts';

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
export function splitObjects(chunks: Iterable<string>): Generator<TextPart> {
  return splitAt(chunks, '\n', 0);
}

/** Splits a JSON array into its elements, at each comma outside strings and inner brackets. Checks only where the array ends. */
export function* splitElements(chunks: Iterable<string>): Generator<string> {
  let isClosed = false;
  let isFirst = true;
  for (const { text, closesArray } of splitAt(chunks, ',', -1)) {
    if (isClosed && text.trim() !== '') throw notJson('there is data after the array');
    // An empty text beside a comma is yielded too, so that parsing refuses it. Only an empty array yields nothing.
    if (!isClosed && !(isFirst && closesArray && text.trim() === '')) yield text;
    isFirst = false;
    isClosed ||= closesArray;
  }
  if (!isClosed) throw notJson('the array is not closed');
}

interface SplitPart extends TextPart {
  /** Tells whether the part is followed by the bracket that closes the array. */
  closesArray: boolean;
}

/** Splits a text at each separator outside strings and brackets. `startDepth` is -1 to ignore the outer brackets of an array. */
function* splitAt(chunks: Iterable<string>, separator: string, startDepth: -1 | 0): Generator<SplitPart> {
  let text = '';
  let start = 0;
  let at = 0;
  let [line, partLine] = [1, 1];
  let depth: number = startDepth;
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
      else if (char === '{' || char === '[') {
        // This bracket opens the array itself.
        if (++depth === 0) start = at + 1;
      } else if (char === '}' || char === ']' ? --depth < 0 : char === separator && depth === 0) {
        yield { text: text.slice(start, at), line: partLine, closesArray: depth < 0 };
        start = at + 1;
        partLine = line;
      }
    }
  }
  yield { text: text.slice(start), line: partLine, closesArray: false };
}

function notJson(why: string): QueueError {
  return new QueueError('invalid-json', `this is not valid JSON: ${why}`);
}

function jobTooLong(line: number): QueueError {
  return new QueueError('invalid-job', `line ${line}: the job is larger than 16 MiB`);
}
