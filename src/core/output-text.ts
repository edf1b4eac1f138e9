import { printable } from './printable.ts';
import { applySgr, PLAIN, styleOf, type TextStyle } from './text-style.ts';

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

/** Reads the output of a job in pieces of any size. A character or a sequence may be split between two pieces. */
export interface OutputParser {
  read(data: Uint8Array): StyledText[];
  /** Returns the text that was held back. The next output starts in a plain style. */
  end(): StyledText[];
}

/** The maximum length of the parameters in a sequence. It also limits the text that is held back for the next piece. */
const MAX_PARAMETERS = 128;
/** Matches a sequence that sets colors and other attributes (SGR), or that erases a part of the line (EL). */
const SEQUENCE = /\x1b\[(?:([0-9;:]{0,128})m|([0-2]?)K)/g;
/** Matches the start of such a sequence at the end of a piece. */
const UNFINISHED = /\x1b(\[[0-9;:]{0,128})?$/;
const UNFINISHED_LENGTH = MAX_PARAMETERS + 2;

/** Returns a parser that makes output safe for a terminal: color sequences become styles, and most other controls are escaped. */
export function outputParser(): OutputParser {
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
    read(data) {
      const text = held + decoder.decode(data, { stream: true });
      held = UNFINISHED.exec(text.slice(-UNFINISHED_LENGTH))?.[0] ?? '';
      return parse(text.slice(0, text.length - held.length));
    },
    end() {
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
