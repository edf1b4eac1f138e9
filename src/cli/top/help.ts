import { wrap } from '../help-page.ts';

/** The keys and what they do. The most important ones come first. */
const KEYS: [keys: string, effect: string][] = [
  ['Tab, right / Shift-Tab, left', 'next list, previous list'],
  ['down, j / up, k', 'next row, previous row (also PgDn, PgUp, g, G)'],
  ['Enter, l', 'show the output of the job (f: follow, q: back)'],
  ['c', 'cancel the job (asks first)'],
  ['r', 'retry a failed, dead or cancelled job now'],
  ['h', 'hold a waiting job, or release a held one'],
  ['p', 'pause or resume the queue of the selected row'],
  ['/', 'filter the rows by text (Esc: clear the filter)'],
  ['?', 'show this help'],
  ['Ctrl-L', 'redraw the screen'],
  ['Ctrl-Z', 'suspend; fg continues'],
  ['q, Ctrl-C', 'quit; running jobs are not affected'],
];
const NOTE = 'The lists of waiting and failed jobs show the newest 100.';

const EFFECT_COLUMN = 33;
/** A screen of at least this width has the keys and what they do on one line. */
const WIDE = EFFECT_COLUMN + Math.max(...KEYS.map(([, effect]) => effect.length));

/** Returns the help for a screen of this width. On a narrow one, the effects of the keys are below them, in short lines. */
export function helpLines(width: number): string[] {
  const isWide = width >= WIDE;
  const lines = KEYS.flatMap(([keys, effect]) =>
    isWide
      ? `  ${keys}`.padEnd(EFFECT_COLUMN) + effect
      : [keys, ...wrap(effect, width - 2).map((line) => `  ${line}`)],
  );
  return ['queuectl top: keys', '', ...lines, '', ...wrap(NOTE, width)];
}
