import { printable } from '../../core/text/printable.ts';

export { printable };

const isWide = (text: string): boolean =>
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
    text,
  );

let segmenter: Intl.Segmenter | undefined;

/** Splits a text into the characters that a reader sees. The segmenter is created on first use. */
export function characters(text: string): Iterable<{ segment: string }> {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

/** Returns the number of columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of characters(text)) width += isWide(segment) ? 2 : 1;
  return width;
}

export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const { segment } of characters(text)) {
    used += displayWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

const COLORS = { red: 31, green: 32, yellow: 33, blue: 34, cyan: 36, dim: 2, bold: 1, reverse: 7 } as const;
export type Color = keyof typeof COLORS;

export function paint(text: string, color: Color): string {
  return `\x1b[${COLORS[color]}m${text}\x1b[0m`;
}

export const STATE_COLORS: Record<string, Color> = {
  pending: 'blue',
  processing: 'cyan',
  completed: 'green',
  failed: 'yellow',
  dead: 'red',
  cancelled: 'dim',
};
