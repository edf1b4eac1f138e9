import type { Io } from '../frame/io.ts';

/** Opens the screen, hides the cursor and turns off wrapping, because a wrapped line would push the others down. */
const OPEN = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const CLOSE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_REST_OF_LINE = '\x1b[K';
const CLEAR_LINES_BELOW = '\n\x1b[J';

/** Controls the alternate screen of a terminal. Closing it restores the previous contents. */
export function screen(io: Io) {
  let shown: string[] = [];
  const write = (text: string): void => io.bytes(Buffer.from(text));
  return {
    open(): void {
      shown = [];
      write(OPEN);
    },
    close: (): void => write(CLOSE),
    /** Replaces the contents by a text, without clearing the screen first, so that nothing flickers. Lines that do not fit are left out. */
    draw(text: string): void {
      const lines = text.trimEnd().split('\n').slice(0, io.height);
      // Each line is cleared before it is written. After a full line, clearing would erase its last column.
      const drawn = lines.map((line) => CLEAR_REST_OF_LINE + line).join('\n');
      write(HOME + drawn + (lines.length < io.height ? CLEAR_LINES_BELOW : ''));
    },
    /** Replaces the contents by lines as wide as the screen. Writes only those that differ from the last call of `show`. */
    show(lines: string[]): void {
      let text = '';
      for (const [i, line] of lines.entries()) if (line !== shown[i]) text += `\x1b[${i + 1};1H${line}`;
      shown = lines;
      if (text !== '') write(text);
    },
    /** Clears the screen. The next `show` writes all lines. */
    forget(): void {
      shown = [];
      write('\x1b[2J');
    },
  };
}

/** Lets a drawing loop sleep until there is something to draw. */
export function newBell() {
  let isUrgent = false;
  let wake = (): void => {};
  const bell = {
    /** True if data has changed since the caller last set this to false. */
    stale: false,
    changed(): void {
      if (bell.stale) return;
      bell.stale = true;
      wake();
    },
    /** Ends the sleep at once, because a user is waiting. */
    urgent(): void {
      isUrgent = true;
      wake();
    },
    /** Sleeps until the time that `due` returns, or until `urgent` is called. `due` is called again after each change. */
    async until(due: () => number): Promise<void> {
      for (let left = due() - performance.now(); !isUrgent && left > 0; left = due() - performance.now()) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isUrgent = false;
    },
  };
  return bell;
}
