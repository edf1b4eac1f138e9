import type { TextStyle } from '../../core/text/output-text.ts';
import { type Color, cut, displayWidth, paint } from '../print/text.ts';

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
  const painted = (text: string, part: Part): string => {
    if (color && part.style) return `\x1b[${part.style}m${text}\x1b[0m`;
    return color && part.color ? paint(text, part.color) : text;
  };
  return line.map((part) => painted(plain(part.text), part)).join('');
}

const ASCII_FOR: Record<string, string> = { '…': '~', '│': '|', '▾': 'v', '↑': '^', '↓': 'v', '·': '.' };

/** Replaces characters that are not ASCII by ASCII characters of the same width. */
function toAscii(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) =>
    /^[\x20-\x7e]$/.test(segment) ? segment : (ASCII_FOR[segment] ?? '?'.repeat(displayWidth(segment))),
  ).join('');
}
