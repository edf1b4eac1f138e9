import { createAnsi, type Piece } from './ansi.ts';

export interface Line {
  /** The offset of its first byte in the whole output. */
  offset: number;
  /** Null if the lines before it were not counted. */
  number: number | null;
  pieces: Piece[];
}

const NEWLINE = 10;

/** Splits bytes into lines. An incomplete line is kept for the next bytes. */
export function createCutter(start: number, firstNumber: number | null) {
  const paint = createAnsi();
  const decoder = new TextDecoder();
  let rest = new Uint8Array();
  let offset = start;
  let number = firstNumber;

  const line = (bytes: Uint8Array): Line => {
    const made = { offset, number, pieces: paint(lastText(decoder.decode(bytes))) };
    offset += bytes.length + 1;
    if (number !== null) number++;
    return made;
  };

  return {
    add(bytes: Uint8Array): Line[] {
      const all = new Uint8Array(rest.length + bytes.length);
      all.set(rest);
      all.set(bytes, rest.length);
      const lines: Line[] = [];
      let from = 0;
      for (let at = all.indexOf(NEWLINE); at >= 0; at = all.indexOf(NEWLINE, from)) {
        lines.push(line(all.subarray(from, at)));
        from = at + 1;
      }
      rest = all.slice(from);
      return lines;
    },
    /** Returns the incomplete line at the end, if there is one. */
    open(): Line | null {
      if (rest.length === 0) return null;
      return { offset, number, pieces: createAnsi()(lastText(decoder.decode(rest))) };
    },
  };
}

/** Returns the last text of a line. A progress bar overwrites or erases the text before it. */
function lastText(line: string): string {
  const text = line.replace(/(?<!\r)\r+$/, '');
  const ends = ['\r', '\x1b[1K', '\x1b[2K'].map((found) => {
    const at = text.lastIndexOf(found);
    return at === -1 ? 0 : at + found.length;
  });
  return text.slice(Math.max(...ends));
}

/** Returns the offset of the second line, because the first line of a range may be incomplete. */
export function afterNewline(bytes: Uint8Array): number {
  return bytes.indexOf(NEWLINE) + 1;
}

/** This many lines before the wanted one are shown too. */
const BEFORE = 200;

/** Counts lines without decoding them. Returns where to start so that the wanted line is shown, or null before it. */
export function createCounter(wanted: number) {
  const first = Math.max(1, wanted - BEFORE);
  let offset = 0;
  let number = 1;
  let begin = first === 1 ? { offset: 0, number: 1 } : null;
  return (bytes: Uint8Array): { offset: number; number: number } | null => {
    if (number === wanted && bytes.length > 0) return begin;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      number++;
      if (number === first) begin = { offset: offset + at + 1, number };
      if (number === wanted && at + 1 < bytes.length) return begin;
    }
    offset += bytes.length;
    return null;
  };
}

export const textOf = (line: Line): string => line.pieces.map(({ text }) => text).join('');

/** A row of fixed height: a line, or a part of a long one. */
export interface Row {
  line: Line;
  pieces: Piece[];
  first: boolean;
}

/** Longer lines are split, because one line may be as long as the whole output. */
const LONGEST = 4000;

export function rowsOf(lines: Line[], columns: number | null): Row[] {
  const width = Math.max(20, columns ?? LONGEST);
  return lines.flatMap((line) => {
    const length = line.pieces.reduce((sum, { text }) => sum + text.length, 0);
    if (length <= width) return [{ line, pieces: line.pieces, first: true }];
    return cut(line.pieces, width).map((pieces, i) => ({ line, pieces, first: i === 0 }));
  });
}

function cut(pieces: Piece[], width: number): Piece[][] {
  const rows: Piece[][] = [[]];
  let room = width;
  for (const { text, look } of pieces) {
    for (let at = 0; at < text.length; ) {
      if (room === 0) {
        rows.push([]);
        room = width;
      }
      const part = text.slice(at, at + room);
      rows.at(-1)!.push({ text: part, look });
      at += part.length;
      room -= part.length;
    }
  }
  return rows;
}

/** Returns a link to a line by its number, or by its first byte if the lines were not counted. */
export const hashOf = ({ number, offset }: Line): string => (number === null ? `#B${offset}` : `#L${number}`);
