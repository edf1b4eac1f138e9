import { visible } from './format.ts';

/** A part of a line in one style. */
export interface Piece {
  text: string;
  /** Class names, or an empty text for plain text. */
  look: string;
}

interface Look {
  fg: number | null;
  bg: number | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
}

const PLAIN: Look = {
  fg: null,
  bg: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
};

/** Matches colors, which become styles, the erasing of a line, which is dropped, and any other control character. */
const ESCAPE = /\x1b\[([0-9;:]*)m|\x1b\[\d*K|[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

export function createAnsi(): (line: string) => Piece[] {
  let look = PLAIN;
  return (line) => {
    const pieces: Piece[] = [];
    const add = (text: string, extra = ''): void => {
      if (text !== '') pieces.push({ text, look: classes(look) + extra });
    };
    let at = 0;
    for (const match of line.matchAll(ESCAPE)) {
      add(line.slice(at, match.index));
      at = match.index + match[0].length;
      if (match[1] !== undefined) look = change(look, match[1]);
      else if (match[0].length === 1) add(visible(match[0]), ' ansi-control');
    }
    add(line.slice(at));
    return pieces;
  };
}

function change(before: Look, text: string): Look {
  const codes = text === '' ? [0] : text.split(/[;:]/).map(Number);
  let look = { ...before };
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!;
    if (code === 0) look = { ...PLAIN };
    else if (code === 1) look.bold = true;
    else if (code === 2) look.dim = true;
    else if (code === 3) look.italic = true;
    else if (code === 4) look.underline = true;
    else if (code === 7) look.inverse = true;
    else if (code === 22) look.bold = look.dim = false;
    else if (code === 23) look.italic = false;
    else if (code === 24) look.underline = false;
    else if (code === 27) look.inverse = false;
    else if (code === 39) look.fg = null;
    else if (code === 49) look.bg = null;
    else if (code >= 30 && code <= 37) look.fg = code - 30;
    else if (code >= 40 && code <= 47) look.bg = code - 40;
    else if (code >= 90 && code <= 97) look.fg = code - 82;
    else if (code >= 100 && code <= 107) look.bg = code - 92;
    else if (code === 38 || code === 48) {
      const [colour, taken] = extended(codes.slice(i + 1));
      if (code === 38) look.fg = colour;
      else look.bg = colour;
      i += taken;
    }
  }
  return look;
}

/** Maps 256 colors and true colors to the nearest of the sixteen that suit both themes. */
function extended(codes: number[]): [number | null, number] {
  if (codes[0] === 5) return [nearest(codes[1] ?? 0), 2];
  if (codes[0] === 2) return [ofRgb(codes[1] ?? 0, codes[2] ?? 0, codes[3] ?? 0), 4];
  return [null, 0];
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

function classes({ fg, bg, bold, dim, italic, underline, inverse }: Look): string {
  const [front, back] = inverse ? [bg ?? 'back', fg ?? 'front'] : [fg, bg];
  return [
    front === null ? '' : `ansi-${front}`,
    back === null ? '' : `ansi-on-${back}`,
    bold ? 'ansi-bold' : '',
    dim ? 'ansi-dim' : '',
    italic ? 'ansi-italic' : '',
    underline ? 'ansi-underline' : '',
  ]
    .filter(Boolean)
    .join(' ');
}
