import { type Color, cut, displayWidth, paint } from '../text.ts';

/** What the terminal can show. */
export interface Look {
  color: boolean;
  ascii: boolean;
}

export interface Part {
  text: string;
  color?: Color | undefined;
}

/** A line of the screen: parts without escape sequences. */
export type Line = Part[];

/** Cuts or pads a line to the width. */
export function fitLine(line: Line, width: number): Line {
  const parts: Line = [];
  let room = width;
  for (const part of line) {
    if (room <= 0) break;
    const text = cut(part.text, room);
    parts.push({ ...part, text });
    room -= displayWidth(text);
  }
  if (room > 0) parts.push({ text: ' '.repeat(room) });
  return parts;
}

export function paintLine(line: Line, { color, ascii }: Look): string {
  const plain = (text: string): string => (ascii ? toAscii(text) : text);
  if (!color) return line.map(({ text }) => plain(text)).join('');
  return line.map((part) => (part.color ? paint(plain(part.text), part.color) : plain(part.text))).join('');
}

const ASCII_FOR: Record<string, string> = { '…': '~', '│': '|', '▾': 'v', '↑': '^', '↓': 'v', '·': '.' };

/** Replaces characters that are not ASCII by ASCII characters of the same width. */
function toAscii(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) =>
    /^[\x20-\x7e]$/.test(segment) ? segment : (ASCII_FOR[segment] ?? '?'.repeat(displayWidth(segment))),
  ).join('');
}
