import type { Io } from './io.ts';

/** Controls the alternate screen of a terminal. Closing it restores the previous contents. */
export interface Screen {
  open(): void;
  /** Replaces the contents by a text. Lines that do not fit the screen are left out. */
  draw(text: string): void;
  /** Replaces the contents by lines as wide as the screen. Writes only those that differ from the last call of `show`. */
  show(lines: string[]): void;
  /** Clears the screen. The next `show` writes all lines. */
  forget(): void;
  close(): void;
}

/** Opens the screen, hides the cursor and turns off wrapping, because a wrapped line would push the others down. */
const OPEN = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const CLOSE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_REST_OF_LINE = '\x1b[K';
const CLEAR_LINES_BELOW = '\n\x1b[J';

export function screen(io: Io): Screen {
  let shown: string[] = [];
  const write = (text: string): void => io.bytes(Buffer.from(text));
  return {
    open() {
      shown = [];
      write(OPEN);
    },
    close: () => write(CLOSE),
    // The new text overwrites the old one without clearing the screen first, so that nothing flickers.
    draw(text) {
      const lines = text.trimEnd().split('\n').slice(0, io.height);
      // Each line is cleared before it is written. After a full line, clearing would erase its last column.
      const drawn = lines.map((line) => CLEAR_REST_OF_LINE + line).join('\n');
      write(HOME + drawn + (lines.length < io.height ? CLEAR_LINES_BELOW : ''));
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
