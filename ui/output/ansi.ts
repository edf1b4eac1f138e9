import { type Attributes, applySgr, PLAIN } from '../../src/core/text/output-text.ts';
import { visible } from '../parts/format.ts';

/** A part of a line in one style. */
export interface Piece {
  text: string;
  /** Class names, or an empty text for plain text. */
  look: string;
}

/** Matches colors, which become styles, the erasing of a line, which is dropped, and any other control character. */
const ESCAPE = /\x1b\[([0-9;:]*)m|\x1b\[\d*K|[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

export function createAnsi(): (line: string) => Piece[] {
  let attributes = PLAIN;
  return (line) => {
    const pieces: Piece[] = [];
    const add = (text: string, extra = ''): void => {
      if (text !== '') pieces.push({ text, look: classes(attributes) + extra });
    };
    let at = 0;
    for (const match of line.matchAll(ESCAPE)) {
      add(line.slice(at, match.index));
      at = match.index + match[0].length;
      if (match[1] !== undefined) attributes = applySgr(attributes, match[1]);
      else if (match[0].length === 1) add(visible(match[0]), ' ansi-control');
    }
    add(line.slice(at));
    return pieces;
  };
}

/** Returns one of sixteen colors, which suit both themes, for the parameters that set a color. */
function colorOf(parameters: string | undefined): number | null {
  if (parameters === undefined) return null;
  const [code = 0, mode, ...values] = parameters.split(';').map(Number);
  if (mode === 5) return nearest(values[0]!);
  if (mode === 2) return ofRgb(values[0]!, values[1]!, values[2]!);
  return (code % 10) + (code >= 90 ? 8 : 0);
}

function nearest(index: number): number {
  if (index < 16) return index;
  if (index >= 232) return index < 240 ? 8 : index < 248 ? 7 : 15;
  const cube = index - 16;
  return ofRgb(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51);
}

function ofRgb(r: number, g: number, b: number): number {
  const most = Math.max(r, g, b);
  if (most < 64) return 8;
  const bit = (value: number, one: number): number => (value > most / 2 ? one : 0);
  return bit(r, 1) + bit(g, 2) + bit(b, 4) + (most > 200 ? 8 : 0);
}

function classes(attributes: Attributes): string {
  const fg = colorOf(attributes.get('foreground'));
  const bg = colorOf(attributes.get('background'));
  const [front, back] = attributes.has('inverse') ? [bg ?? 'back', fg ?? 'front'] : [fg, bg];
  return [
    front === null ? '' : `ansi-${front}`,
    back === null ? '' : `ansi-on-${back}`,
    ...['bold', 'dim', 'italic', 'underline'].map((name) => (attributes.has(name) ? `ansi-${name}` : '')),
  ]
    .filter(Boolean)
    .join(' ');
}
