import type { Io } from '../frame/io.ts';

const FIRST_UPDATE_MS = 200;
const TERMINAL_UPDATE_MS = 100;
const LOG_UPDATE_MS = 10_000;

/** Reports the progress of a long command on stderr: one changing line on a terminal, else a line every ten seconds. */
export function startProgress(io: Io, now: () => number = () => performance.now()) {
  let nextUpdateAt = now() + (io.errTty ? FIRST_UPDATE_MS : LOG_UPDATE_MS);
  let shown = false;
  return {
    /** Reports progress, but not with --quiet or --json. Most calls return at once without calling `text`. */
    update(text: () => string): void {
      if (io.quiet || io.json || now() < nextUpdateAt) return;
      shown ||= io.errTty;
      nextUpdateAt = now() + (io.errTty ? TERMINAL_UPDATE_MS : LOG_UPDATE_MS);
      io.errBytes(Buffer.from(io.errTty ? `\r${text()}\x1b[K` : `${text()}\n`));
    },
    /** Removes the line from the terminal. Lines in a log stay. */
    end(): void {
      if (shown) io.errBytes(Buffer.from('\r\x1b[K'));
      shown = false;
    },
  };
}
