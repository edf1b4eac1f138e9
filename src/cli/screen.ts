import type { Io } from './io.ts';

/** A terminal's other screen: what was there before comes back when it is closed. */
export interface Screen {
  open(): void;
  draw(text: string): void;
  close(): void;
}

/** Without cursor, and lines that are too long end at the edge: a wrapped one would push the others down. */
const OPEN = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const CLOSE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const REST_OF_LINE = '\x1b[K';
const REST_OF_SCREEN = '\x1b[J';

export function screen(io: Io): Screen {
  return {
    open: () => io.out(OPEN),
    close: () => io.out(CLOSE),
    // Written over the old picture rather than after clearing it, so that nothing flickers.
    draw(text) {
      const lines = text.trimEnd().split('\n').slice(0, io.height);
      io.out(HOME + lines.map((line) => line + REST_OF_LINE).join('\n') + REST_OF_SCREEN);
    },
  };
}
