import { printable } from './printable.ts';

/** The style of text on a terminal, as SGR parameters such as `1;31`. Plain text has an empty style. */
export type TextStyle = string;

/** The attributes that are set, each with the parameters that set it. */
export type Attributes = ReadonlyMap<string, string>;

export const PLAIN: Attributes = new Map();

/** The codes that set an attribute. Conceal (8) is missing because it would hide text from the reader. */
const ON: Record<number, string> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  5: 'blink',
  6: 'blink',
  7: 'inverse',
  9: 'strike',
  21: 'underline',
  53: 'overline',
};

/** The codes that clear attributes. */
const OFF: Record<number, string[]> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  25: ['blink'],
  27: ['inverse'],
  29: ['strike'],
  39: ['foreground'],
  49: ['background'],
  55: ['overline'],
};

/** The codes that are followed by a color. The color of underlines is read but not used, because few terminals support it. */
const EXTENDED: Record<number, string | null> = { 38: 'foreground', 48: 'background', 58: null };

/** The number of values after the mode of an extended color: an index, or red, green and blue. */
const COLOR_VALUE_COUNTS: Record<number, number> = { 5: 1, 2: 3 };

/** Returns the attributes after an SGR sequence. Ignores unknown codes, because some, such as fonts, outlast a reset on some terminals. */
export function applySgr(before: Attributes, parameters: string): Attributes {
  const after = new Map(before);
  const list = parameters.split(';');
  for (let at = 0; at < list.length; at++) {
    const [code = 0, ...parts] = list[at]!.split(':').map(Number);
    const target = EXTENDED[code];
    if (target !== undefined) {
      // The color is in the same parameter (38:5:1) or in the following ones (38;5;1).
      const inside = parts.length > 0;
      const { color, taken } = readColor(
        inside ? withoutColorSpace(parts) : list.slice(at + 1, at + 5).map(Number),
      );
      if (!inside) at += taken;
      if (target !== null && color !== null) after.set(target, `${code};${color}`);
    } else if (parts.length === 0) applyCode(after, code);
    else if (code === 4) applyCode(after, parts[0] === 0 ? 24 : 4);
  }
  return after;
}

function styleOf(attributes: Attributes): TextStyle {
  return [...attributes.values()].join(';');
}

function applyCode(attributes: Map<string, string>, code: number): void {
  const on = ON[code] ?? colorTarget(code);
  if (code === 0) attributes.clear();
  else if (on !== null) attributes.set(on, String(code));
  else for (const name of OFF[code] ?? []) attributes.delete(name);
}

function colorTarget(code: number): string | null {
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return 'foreground';
  return (code >= 40 && code <= 47) || (code >= 100 && code <= 107) ? 'background' : null;
}

/** Removes the color space from `2:SPACE:R:G:B`, which is usually empty. */
function withoutColorSpace(parts: number[]): number[] {
  return parts[0] === 2 && parts.length > 4 ? [2, ...parts.slice(2, 5)] : parts;
}

/** Reads a mode and its values. Returns the color, or null if it is not valid, and the number of parameters read. */
function readColor([mode = 0, ...values]: number[]): { color: string | null; taken: number } {
  const count = COLOR_VALUE_COUNTS[mode];
  if (count === undefined) return { color: null, taken: 0 };
  const used = values.slice(0, count);
  const valid = used.length === count && used.every((value) => value >= 0 && value <= 255);
  return { color: valid ? [mode, ...used].join(';') : null, taken: 1 + used.length };
}

/** A piece of output in one style. Its only control characters are newlines, carriage returns and tabs, unless it erases a part of the line. */
export interface StyledText {
  text: string;
  style: TextStyle;
  /** The part of the line that the piece erases: from the cursor to the end, up to the cursor, or the whole line. */
  erases?: Erased;
}

export type Erased = 'end' | 'start' | 'line';

/** The sequences that erase a part of the line of the cursor, as progress bars do (EL). They are as harmless as a carriage return. */
const ERASERS: Record<string, { text: string; erases: Erased }> = {
  '': { text: '\x1b[K', erases: 'end' },
  0: { text: '\x1b[K', erases: 'end' },
  1: { text: '\x1b[1K', erases: 'start' },
  2: { text: '\x1b[2K', erases: 'line' },
};

/** The maximum length of the parameters in a sequence. It also limits the text that is held back for the next piece. */
const MAX_PARAMETERS = 128;
/** Matches a sequence that sets colors and other attributes (SGR), or that erases a part of the line (EL). */
const SEQUENCE = /\x1b\[(?:([0-9;:]{0,128})m|([0-2]?)K)/g;
/** Matches the start of such a sequence at the end of a piece. */
const UNFINISHED = /\x1b(\[[0-9;:]{0,128})?$/;
const UNFINISHED_LENGTH = MAX_PARAMETERS + 2;

/**
 * Returns a parser that makes output safe for a terminal: color sequences become styles, and most other controls are escaped. It
 * reads output in pieces of any size. A character or a sequence may be split between two pieces.
 */
export function outputParser() {
  let decoder = new TextDecoder();
  let attributes = PLAIN;
  let held = '';
  const parse = (text: string): StyledText[] => {
    const pieces: StyledText[] = [];
    const add = (part: string): void => {
      if (part !== '') pieces.push({ text: escapeControls(part), style: styleOf(attributes) });
    };
    let at = 0;
    for (const match of text.matchAll(SEQUENCE)) {
      add(text.slice(at, match.index));
      const [, parameters, erased] = match;
      if (parameters !== undefined) attributes = applySgr(attributes, parameters);
      // Erasing in a plain style leaves no stripe of a background color.
      else pieces.push({ ...ERASERS[erased!]!, style: '' });
      at = match.index + match[0].length;
    }
    add(text.slice(at));
    return pieces;
  };
  return {
    read(data: Uint8Array): StyledText[] {
      const text = held + decoder.decode(data, { stream: true });
      held = UNFINISHED.exec(text.slice(-UNFINISHED_LENGTH))?.[0] ?? '';
      return parse(text.slice(0, text.length - held.length));
    },
    /** Returns the text that was held back. The next output starts in a plain style. */
    end(): StyledText[] {
      const rest = parse(held + decoder.decode());
      decoder = new TextDecoder();
      attributes = PLAIN;
      held = '';
      return rest;
    },
  };
}

function escapeControls(text: string): string {
  return text.replace(/[^\n\r\t]+/g, printable);
}
