import type { TextStyle } from '../../core/text-style.ts';
import { type Color, cut, displayWidth, paint } from '../text.ts';

/** What the terminal can show. */
export interface Look {
  color: boolean;
  ascii: boolean;
}

export interface Part {
  text: string;
  color?: Color | undefined;
  /** The style that a job gave to its output. It is used instead of a color. */
  style?: TextStyle;
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
  return line.map((part) => paintPart(plain(part.text), part)).join('');
}

/** Paints the text of a part and turns the style off again. */
function paintPart(text: string, { color, style }: Part): string {
  if (style) return `\x1b[${style}m${text}\x1b[0m`;
  return color ? paint(text, color) : text;
}

const ASCII_FOR: Record<string, string> = { '…': '~', '│': '|', '▾': 'v', '↑': '^', '↓': 'v', '·': '.' };

/** Replaces characters that are not ASCII by ASCII characters of the same width. */
function toAscii(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) =>
    /^[\x20-\x7e]$/.test(segment) ? segment : (ASCII_FOR[segment] ?? '?'.repeat(displayWidth(segment))),
  ).join('');
}
