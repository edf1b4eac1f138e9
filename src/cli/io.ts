import { fstatSync, writeSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import { type Layout, USUAL } from './layout.ts';
import { printable, printableJson, printableLines } from './text.ts';

/** The reader has gone (`| head`): nothing is wrong, and nobody is there to tell. */
export class BrokenPipe extends Error {}

export interface IoOptions {
  json: boolean;
  quiet: boolean;
  color: 'auto' | 'always' | 'never';
  environment: NodeJS.ProcessEnv;
  layout?: Layout;
}

/** stdout carries the result and nothing else; what is said about it goes to stderr. */
export interface Io {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly layout: Layout;
  /** A person is looking at stdout. */
  readonly tty: boolean;
  /** A person is looking at stderr. */
  readonly errTty: boolean;
  /** Colours on stdout. */
  readonly color: boolean;
  readonly width: number;
  /** Lines of the terminal. */
  readonly height: number;
  /** Writes lines. On a terminal their control characters are shown as escapes, and only our colours are obeyed. */
  out(text: string): void;
  /** Writes to stdout what is data, or drives the terminal on purpose. */
  bytes(data: Uint8Array): void;
  /** A hint for a person at a terminal; silent with --quiet, --json or a redirected stderr. */
  note(text: string): void;
  /** Something a script's log should show too. */
  warn(text: string): void;
  err(text: string): void;
  /** The same for stderr. */
  errBytes(data: Uint8Array): void;
}

const EAGAIN_PAUSE = new Int32Array(new SharedArrayBuffer(4));

export function createIo(options: IoOptions): Io {
  const tty = isTerminal(1);
  const errTty = isTerminal(2);
  const color = useColor(options, tty);
  const forTerminal = (text: string): string =>
    options.json ? printableJson(text) : printableLines(text, color);
  return {
    json: options.json,
    quiet: options.quiet,
    layout: options.layout ?? USUAL,
    tty,
    errTty,
    color,
    get width() {
      return terminalSize(tty)[0] || Number(options.environment.COLUMNS) || 80;
    },
    get height() {
      return terminalSize(tty)[1] || Number(options.environment.LINES) || 24;
    },
    out: (text) => writeAll(1, Buffer.from(tty ? forTerminal(text) : text)),
    bytes: (data) => writeAll(1, data),
    note: (text) => {
      if (errTty && !options.quiet && !options.json) talk(`note: ${printable(text)}\n`);
    },
    warn: (text) => {
      if (options.quiet) return;
      // With --json, each line of stderr is one JSON object.
      if (options.json) talk(`${printableJson(JSON.stringify({ warning: { message: text } }))}\n`);
      else talk(`warning: ${printable(text)}\n`);
    },
    err: (text) => talk(errTty ? printableLines(text, true) : text),
    errBytes: talk,
  };
}

/**
 * Loading node:tty costs more than everything else a short command does, so it is asked only about what may be a
 * terminal: a character device other than /dev/null and its kin (major number 1).
 */
export function isTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    if (!stat.isCharacterDevice() || stat.rdev >> 8 === 1) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule('node:tty').isatty(fd);
}

function useColor({ color, environment }: IoOptions, tty: boolean): boolean {
  if (color !== 'auto') return color === 'always';
  if (environment.FORCE_COLOR) return !/^(0|false)$/.test(environment.FORCE_COLOR);
  if (environment.CLICOLOR_FORCE && environment.CLICOLOR_FORCE !== '0') return true;
  return tty && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

function terminalSize(tty: boolean): number[] {
  // process.stdout is touched only on a terminal: on a pipe that would leave it non-blocking for everybody. Asked anew
  // each time: a window changes its size.
  return tty ? (process.stdout.getWindowSize?.() ?? []) : [];
}

/** Nobody listening to what is said about the work is no reason to stop it. */
function talk(text: string | Uint8Array): void {
  try {
    writeAll(2, typeof text === 'string' ? Buffer.from(text) : text);
  } catch (error) {
    if (!(error instanceof BrokenPipe || error instanceof QueueError)) throw error;
  }
}

/** Whole and in order, or not at all: a pipe that somebody made non-blocking is waited for. */
function writeAll(fd: number, data: Uint8Array): void {
  for (let at = 0; at < data.length; ) {
    try {
      at += writeSync(fd, data, at);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EPIPE') throw new BrokenPipe();
      if (code !== 'EAGAIN') throw cannotWrite(error as Error);
      Atomics.wait(EAGAIN_PAUSE, 0, 0, 2);
    }
  }
}

function cannotWrite(cause: Error): QueueError {
  return new QueueError('output-failed', `cannot write the output: ${cause.message}`, undefined, { cause });
}
