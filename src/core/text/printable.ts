/** Shows control, format and invisible characters as escapes, so that a job's text cannot control the terminal. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115f\u1160\u2800\u3164\uffa0\u{16fe4}\u{1d159}]/gu,
    escaped,
  );
}

function escaped(char: string): string {
  const named = NAMED_ESCAPES[char];
  if (named !== undefined) return named;
  const code = char.codePointAt(0)!;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

const NAMED_ESCAPES: Record<string, string> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' };

/** Formats the value of a `key=value` pair. Quotes it unless it is one plain word. */
export function pairValue(text: string): string {
  if (/^[^\s"=\\]+$/.test(text) && printable(text) === text) return text;
  return `"${printable(text.replace(/["\\]/g, '\\$&'))}"`;
}

/** Removes escape sequences such as colors, and replaces each run of other control characters by a space. */
export function withoutControls(text: string): string {
  return text.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, '').replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

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
