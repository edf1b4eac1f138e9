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
  help: 'refresh every 2s (or TIME); in a pipe, print only changes',
};

/** How often to look again; null: once is enough. */
export function readWatch(input: Input): number | null {
  const text = input.one('watch');
  if (text === undefined) return null;
  const ms = parseDuration(text, '--watch');
  if (ms < SOONEST_MS || ms > LATEST_MS)
    throw new QueueError('invalid-value', '--watch must be between 100ms and 1d');
  return ms;
}

/** What a watched command shows. */
export interface View {
  /** The whole, for a person's screen of so many lines. */
  draw(io: Io, lines: number): Promise<void>;
  /** The parts that may change one by one, for a pipe. */
  parts(io: Io): Promise<Part[]>;
  /** What became of a part that is no longer there; null: nothing worth telling. */
  gone?(key: string, io: Io): Promise<string | null>;
}

export interface Part {
  key: string;
  text: string;
  /** What of it counts as a change; the text, unless told otherwise. */
  essence?: string;
}

/** Shows it again and again until Ctrl-C: on a terminal as a screen, in a pipe whatever has changed. */
export async function watch({ io }: Context, everyMs: number, view: View): Promise<number> {
  if (!io.tty || io.json || io.quiet) return again(everyMs, changesOnly(io, view));
  const canvas = screen(io);
  canvas.open();
  try {
    const code = await again(everyMs, async () => {
      const lines = io.height;
      canvas.draw(await capture(io, (inside) => view.draw(inside, lines)));
    });
    // The usual way to leave a screen is no failure.
    return code === new Interrupted('SIGINT').exitCode ? 0 : code;
  } finally {
    canvas.close();
  }
}

function changesOnly(io: Io, view: View): () => Promise<void> {
  let known = new Map<string, string>();
  return async () => {
    const parts = await view.parts(io);
    const now = new Map(parts.map((part) => [part.key, part.essence ?? part.text]));
    for (const [key, essence] of known) {
      if (now.has(key)) continue;
      const text = await view.gone?.(key, io);
      if (text != null && text !== essence) io.out(`${text}\n`);
    }
    for (const part of parts) if (known.get(part.key) !== now.get(part.key)) io.out(`${part.text}\n`);
    known = now;
  };
}

/** Until Ctrl-C or SIGTERM. Answers the exit code that says so. */
async function again(everyMs: number, once: () => Promise<void>): Promise<number> {
  let stopped: Interrupted | null = null;
  let rouse = (): void => {};
  const resized = (): void => rouse();
  const release = onInterrupt((signal) => {
    stopped = new Interrupted(signal);
    rouse();
  });
  process.on('SIGWINCH', resized);
  try {
    for (;;) {
      await once();
      if (stopped !== null) return (stopped as Interrupted).exitCode;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => rouse(), everyMs);
        rouse = () => {
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
