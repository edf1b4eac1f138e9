import { fstatSync, writeSync } from 'node:fs';
import { errorObject, QueueError } from '../../core/errors.ts';
import { printable, printableJson, printableLines } from '../../core/text/printable.ts';
import { pauseSync } from '../../core/time/clock.ts';
import { DEFAULT_LAYOUT, type Layout } from '../print/layout.ts';

/** The exit code for SIGPIPE. It is returned if the reader of stdout has gone before the command was done with its input or its job. */
export const BROKEN_PIPE_CODE = 141;

/** Is thrown when the reader of stdout has gone, as with `| head`. The command then ends without an error message. */
export class BrokenPipe extends Error {}

export interface IoOptions {
  json: boolean;
  quiet: boolean;
  color: 'auto' | 'always' | 'never';
  environment: NodeJS.ProcessEnv;
  layout?: Layout | undefined;
}

/** The output of a command. stdout gets only the result. stderr gets notes, warnings and errors. */
export interface Io {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly layout: Layout;
  /** True if stdout is a terminal. */
  readonly tty: boolean;
  readonly errTty: boolean;
  /** True if stdout may be colored. */
  readonly color: boolean;
  readonly errColor: boolean;
  /** True if the terminal understands no control sequences at all. */
  readonly dumb: boolean;
  readonly width: number;
  readonly height: number;
  /** Writes lines to stdout. On a terminal, control characters are escaped, except for the colors of queuectl itself. */
  out(text: string): void;
  /** Writes bytes to stdout unchanged: data, or control sequences for the terminal. */
  bytes(data: Uint8Array): void;
  /** Writes a note, but not with --quiet or --json. If stderr is redirected, writes it only with `always`. */
  note(text: string, always?: 'always'): void;
  /** Writes a warning, as a JSON object with --json. Writes nothing with --quiet. */
  warn(text: string): void;
  /** Writes lines to stderr. On a terminal, control characters other than colors are escaped. */
  err(text: string): void;
  errBytes(data: Uint8Array): void;
}

export function createIo(options: IoOptions): Io {
  const tty = isTerminal(1);
  const errTty = isTerminal(2);
  const color = usesColor(options, tty);
  const forTerminal = (text: string): string =>
    options.json ? printableJson(text) : printableLines(text, color);
  return {
    json: options.json,
    quiet: options.quiet,
    layout: options.layout ?? DEFAULT_LAYOUT,
    tty,
    errTty,
    color,
    errColor: usesColor(options, errTty),
    dumb: options.environment.TERM === 'dumb',
    get width() {
      return terminalSize(tty)[0] || Number(options.environment.COLUMNS) || 80;
    },
    get height() {
      return terminalSize(tty)[1] || Number(options.environment.LINES) || 24;
    },
    out: (text) => writeAll(1, encode(tty ? forTerminal(text) : text)),
    bytes: (data) => writeAll(1, data),
    note: (text, always) => {
      if ((errTty || always) && !options.quiet && !options.json) writeStderr(`note: ${printable(text)}\n`);
    },
    warn: (text) => {
      if (options.quiet) return;
      // With --json, each line of stderr is one JSON object.
      if (options.json) writeStderr(`${printableJson(JSON.stringify({ warning: { message: text } }))}\n`);
      else writeStderr(`warning: ${printable(text)}\n`);
    },
    err: (text) => writeStderr(errTty ? printableLines(text, true) : text),
    errBytes: writeStderr,
  };
}

/**
 * Checks whether a file descriptor is a terminal. Loading node:tty takes longer than everything else a short command
 * does. So node:tty is used only for character devices other than /dev/null and the like (major number 1).
 */
export function isTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    if (!stat.isCharacterDevice() || stat.rdev >> 8 === 1) return false;
  } catch {
    // The descriptor is closed.
    return false;
  }
  return process.getBuiltinModule('node:tty').isatty(fd);
}

function usesColor({ color, environment }: IoOptions, tty: boolean): boolean {
  if (color !== 'auto') return color === 'always';
  if (environment.FORCE_COLOR) return environment.FORCE_COLOR !== '0' && environment.FORCE_COLOR !== 'false';
  if (environment.CLICOLOR_FORCE && environment.CLICOLOR_FORCE !== '0') return true;
  return tty && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

function terminalSize(tty: boolean): number[] {
  // On a pipe, using process.stdout would make the pipe non-blocking for all its users. The size is read each time,
  // because a window can be resized.
  return tty ? (process.stdout.getWindowSize?.() ?? []) : [];
}

/** Writes to stderr. Ignores errors, because a closed stderr must not stop the command. */
function writeStderr(text: string | Uint8Array): void {
  try {
    writeAll(2, typeof text === 'string' ? encode(text) : text);
  } catch (error) {
    if (!(error instanceof BrokenPipe || error instanceof QueueError)) throw error;
  }
}

const LONGEST_ID_LINE = 100;

/** Returns the bytes of a text, or a short ASCII text as it is, so that printing an id does not load the encoder. */
function encode(text: string): Uint8Array | string {
  if (text.length > LONGEST_ID_LINE) return encodeAny(text);
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return encodeAny(text);
  return text;
}

const encodeAny = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Writes all of the data in order. If a non-blocking pipe is full, it tries again. A text consists of ASCII characters. */
function writeAll(fd: number, data: Uint8Array | string): void {
  for (let at = 0; at < data.length; ) {
    try {
      at += typeof data === 'string' ? writeSync(fd, data.slice(at)) : writeSync(fd, data, at);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') throw new BrokenPipe();
      if (code !== 'EAGAIN')
        throw new QueueError('output-failed', `cannot write the output: ${message}`, undefined, {
          cause: error,
        });
      pauseSync(2);
    }
  }
}

export function printError(io: Io, error: QueueError): void {
  if (io.json) io.err(`${printableJson(JSON.stringify(errorObject(error)))}\n`);
  else
    io.err(
      `error: ${printable(error.message)}\n${error.hint === null ? '' : `  ${printable(error.hint)}\n`}`,
    );
}
