import { printable } from './printable.ts';
import { applySgr, PLAIN, styleOf, type TextStyle } from './text-style.ts';

/** A piece of a job's output in one style. Its only control characters are newlines, carriage returns and tabs. */
export interface StyledText {
  text: string;
  style: TextStyle;
}

/** Reads the output of a job in pieces of any size. A character or a sequence may be split between two pieces. */
export interface OutputParser {
  read(data: Uint8Array): StyledText[];
  /** Returns the text that was held back. The next output starts in a plain style. */
  end(): StyledText[];
}

/** The maximum length of the parameters in a sequence. It also limits the text that is held back for the next piece. */
const MAX_PARAMETERS = 128;
/** Matches a sequence that sets colors and other attributes (SGR). */
const SGR = /\x1b\[([0-9;:]{0,128})m/g;
/** Matches the start of such a sequence at the end of a piece. */
const UNFINISHED = /\x1b(\[[0-9;:]{0,128})?$/;
const UNFINISHED_LENGTH = MAX_PARAMETERS + 2;

/** Returns a parser that makes output safe for a terminal: color sequences become styles, and other controls are escaped. */
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
    for (const match of text.matchAll(SGR)) {
      add(text.slice(at, match.index));
      attributes = applySgr(attributes, match[1]!);
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
