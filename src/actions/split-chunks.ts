import { QueueError } from '../core/errors.ts';

/** A part of a text, with the number of the line in which it begins. */
export interface TextPart {
  text: string;
  line: number;
}

/** The maximum length of a part, which has to fit in memory. */
const LONGEST = 16 * 1024 ** 2;

/** Splits a text into lines. Throws the result of `tooLong` when the start of an unfinished line exceeds the limit. */
export function* lines(chunks: Iterable<string>, tooLong = jobTooLong): Generator<TextPart> {
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

/** Splits JSON objects that may span lines, at each newline outside strings and brackets. It does not check the JSON. */
export function objects(chunks: Iterable<string>): Generator<TextPart> {
  return cut(chunks, '\n', 0);
}

/** Splits a JSON array into its elements, at each comma outside strings and inner brackets. */
export function* elements(chunks: Iterable<string>): Generator<string> {
  let ended = false;
  let first = true;
  for (const { text, end } of cut(chunks, ',', -1)) {
    if (ended && text.trim() !== '') throw notJson('there is data after the array');
    // An empty text beside a comma is yielded too, so that parsing refuses it. Only an empty array yields nothing.
    if (!ended && !(first && end && text.trim() === '')) yield text;
    first = false;
    ended ||= end;
  }
  if (!ended) throw notJson('the array is not closed');
}

interface Cut extends TextPart {
  /** Tells whether the part is followed by the bracket that closes the array. */
  end: boolean;
}

/** Splits a text at each separator at depth 0. The depth at its start is -1 if the text is an array. */
function* cut(chunks: Iterable<string>, separator: string, startDepth: -1 | 0): Generator<Cut> {
  let text = '';
  let start = 0;
  let at = 0;
  let [line, began] = [1, 1];
  let depth: number = startDepth;
  let quoted = false;
  for (const chunk of chunks) {
    text = text.slice(start) + chunk;
    at -= start;
    start = 0;
    if (at > LONGEST) throw jobTooLong(began);
    for (; at < text.length; at++) {
      const char = text[at]!;
      if (char === '\n') line++;
      if (quoted) {
        if (char === '\\') at++;
        else if (char === '"') quoted = false;
      } else if (char === '"') quoted = true;
      else if (char === '{' || char === '[') {
        // This bracket opens the array itself.
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

function jobTooLong(line: number): QueueError {
  return new QueueError('invalid-job', `line ${line}: the job is larger than 16 MiB`);
}
