import { parseDuration } from '../core/duration.ts';
import { QueueError } from '../core/errors.ts';
import { capture } from './capture.ts';
import type { Context, Flag, Input } from './command.ts';
import { Interrupted, onInterrupt } from './interrupt.ts';
import type { Io } from './io.ts';
import { screen } from './screen.ts';

const SOONEST_MS = 100;
const LATEST_MS = 86_400_000;

export const WATCH_FLAG: Flag = {
  value: 'TIME',
  bare: '2s',
  help: 'refresh every 2 seconds, or every TIME; in a pipe, print only changes',
};

/** Reads the interval of --watch. Null means that the flag was not given. */
export function readWatch(input: Input): number | null {
  const text = input.one('watch');
  if (text === undefined) return null;
  const ms = parseDuration(text, '--watch');
  if (ms < SOONEST_MS || ms > LATEST_MS)
    throw new QueueError('invalid-value', '--watch must be between 100ms and 1d');
  return ms;
}

/** The output of a command that can be watched. */
export interface WatchedView {
  /** Prints everything, for a screen with this many lines. */
  draw(io: Io, lines: number): Promise<void>;
  /** Returns the items that can change one by one, for a pipe. */
  items(io: Io): Promise<WatchedItem[]>;
  /** Returns the line for an item that is no longer listed, or null for none. */
  gone?(key: string, io: Io): Promise<string | null>;
}

export interface WatchedItem {
  key: string;
  text: string;
  /** The part of the text whose changes are printed. Defaults to the whole text. */
  essence?: string;
}

/** Repeats a view until Ctrl-C: as a screen on a terminal, else only the changes. */
export async function watch({ io }: Context, everyMs: number, view: WatchedView): Promise<number> {
  if (!io.tty || io.json || io.quiet) return repeat(everyMs, changesOnly(io, view));
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

function changesOnly(io: Io, view: WatchedView): () => Promise<void> {
  let known = new Map<string, string>();
  return async () => {
    const items = await view.items(io);
    const now = new Map(items.map((part) => [part.key, part.essence ?? part.text]));
    for (const [key, essence] of known) {
      if (now.has(key)) continue;
      const text = await view.gone?.(key, io);
      if (text != null && text !== essence) io.out(`${text}\n`);
    }
    for (const part of items) if (known.get(part.key) !== now.get(part.key)) io.out(`${part.text}\n`);
    known = now;
  };
}

/** Calls `once` again and again until Ctrl-C or SIGTERM. Returns the exit code of the signal. */
async function repeat(everyMs: number, once: () => Promise<void>): Promise<number> {
  let stopped: Interrupted | null = null;
  let wake = (): void => {};
  const resized = (): void => wake();
  const release = onInterrupt((signal) => {
    stopped = new Interrupted(signal);
    wake();
  });
  process.on('SIGWINCH', resized);
  try {
    for (;;) {
      await once();
      if (stopped !== null) return (stopped as Interrupted).exitCode;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => wake(), everyMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      if (stopped !== null) return (stopped as Interrupted).exitCode;
    }
  } finally {
    process.off('SIGWINCH', resized);
    release();
  }
}
