import { printable } from '../core/printable.ts';

/** Escapes control characters in lines of text, except line breaks, tabs and, with `colors`, color sequences. */
export function printableLines(text: string, colors: boolean): string {
  // A match is a color sequence, or a character that controls a terminal.
  return text.replace(/\x1b\[[0-9]{1,2}m|(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    colors && found.endsWith('m') ? found : printable(found),
  );
}

/** Escapes characters in JSON that control a terminal or reverse its text. The JSON keeps its meaning. */
export function printableJson(json: string): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => char.split('').map(escaped).join(''));
}
