import { newBell, screen } from '../print/screen.ts';
import type { Context, Flag, Input } from './command.ts';
import { Interrupted, onInterrupt } from './interrupt.ts';
import type { Io } from './io.ts';
import { intervalFlag } from './read-flags.ts';

export const WATCH_FLAG: Flag = {
  value: 'TIME',
  bareValue: '2s',
  help: 'refresh every 2 seconds, or every TIME; in a pipe, print only changes',
};

/** Reads the interval of --watch. Returns null without the flag. */
export function readWatch(input: Input): number | null {
  return intervalFlag(input, 'watch', 86_400_000);
}

/** The output of a command that can be watched. */
export interface WatchedView {
  /** Prints everything, for a screen with this many lines. */
  draw(io: Io, lines: number): Promise<void>;
  /** Returns the items that are compared one by one, for a pipe. */
  items(io: Io): Promise<WatchedItem[]>;
  /** Returns the line for an item that is no longer listed, or null to print nothing. */
  gone?(key: string, io: Io): Promise<string | null>;
}

export interface WatchedItem {
  key: string;
  text: string;
  /** The item is printed when this text changes. Defaults to `text`. */
  compared?: string;
}

/** Repeats a view until Ctrl-C or SIGTERM: as a screen on a terminal, else only the changes. */
export async function watch({ io }: Context, everyMs: number, view: WatchedView): Promise<number> {
  if (!io.tty || io.json || io.quiet) return repeat(everyMs, changePrinter(io, view));
  const canvas = screen(io);
  canvas.open();
  try {
    const code = await repeat(everyMs, async () => {
      const lines = io.height;
      canvas.draw(await capture(io, (inside) => view.draw(inside, lines)));
    });
    // Ctrl-C is the normal way to leave the screen.
    return code === new Interrupted('SIGINT').exitCode ? 0 : code;
  } finally {
    canvas.close();
  }
}

/** Returns a function that prints the items that are new, changed or gone since its last call. */
function changePrinter(io: Io, view: WatchedView): () => Promise<void> {
  let previous = new Map<string, string>();
  return async () => {
    const items = await view.items(io);
    const current = new Map(items.map((item) => [item.key, item.compared ?? item.text]));
    for (const [key, compared] of previous) {
      if (current.has(key)) continue;
      const text = await view.gone?.(key, io);
      if (text != null && text !== compared) io.out(`${text}\n`);
    }
    for (const item of items) if (previous.get(item.key) !== current.get(item.key)) io.out(`${item.text}\n`);
    previous = current;
  };
}

/** Calls `update` repeatedly until Ctrl-C or SIGTERM. Returns the exit code of the signal. */
async function repeat(everyMs: number, update: () => Promise<void>): Promise<number> {
  const bell = newBell();
  let stopped: Interrupted | undefined;
  const stopListening = onInterrupt((signal) => {
    stopped = new Interrupted(signal);
    bell.urgent();
  });
  process.on('SIGWINCH', bell.urgent);
  try {
    for (;;) {
      await update();
      const due = performance.now() + everyMs;
      await bell.until(() => due);
      if (stopped !== undefined) return stopped.exitCode;
    }
  } finally {
    process.off('SIGWINCH', bell.urgent);
    stopListening();
  }
}

/** Returns the text that `print` would have written to stdout, together with its notes. */
async function capture(io: Io, print: (inside: Io) => Promise<void>): Promise<string> {
  let text = '';
  const out = (more: string): void => {
    text += more;
  };
  await print({ ...io, out, note: (more) => out(`note: ${more}\n`) });
  return text;
}
