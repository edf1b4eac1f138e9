import type { Io } from './io.ts';

/** A terminal's other screen: what was there before comes back when it is closed. */
export interface Screen {
  open(): void;
  draw(text: string): void;
  /** Lines as wide as the screen; only those that have changed are written. */
  show(lines: string[]): void;
  /** Whatever stands there now is written over as a whole. */
  forget(): void;
  close(): void;
}

/** Without cursor, and lines that are too long end at the edge: a wrapped one would push the others down. */
const OPEN = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const CLOSE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const REST_OF_LINE = '\x1b[K';
const LINES_BELOW = '\n\x1b[J';

export function screen(io: Io): Screen {
  let shown: string[] = [];
  const write = (text: string): void => io.bytes(Buffer.from(text));
  return {
    open() {
      shown = [];
      write(OPEN);
    },
    close: () => write(CLOSE),
    // Written over the old picture rather than after clearing it, so that nothing flickers.
    draw(text) {
      const lines = text.trimEnd().split('\n').slice(0, io.height);
      // Cleared before the line, not behind it: behind a full one the cursor stands on its last column.
      const drawn = lines.map((line) => REST_OF_LINE + line).join('\n');
      write(HOME + drawn + (lines.length < io.height ? LINES_BELOW : ''));
    },
    show(lines) {
      let text = '';
      for (const [i, line] of lines.entries()) if (line !== shown[i]) text += `\x1b[${i + 1};1H${line}`;
      shown = lines;
      if (text !== '') write(text);
    },
    forget() {
      shown = [];
      write('\x1b[2J');
    },
  };
}
