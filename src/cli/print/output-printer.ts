import type { Stream } from '../../core/jobs/job.ts';
import { outputParser, type StyledText, type TextStyle } from '../../core/text/output-text.ts';
import type { Io } from '../frame/io.ts';

/**
 * Prints the output of a job. On a terminal, colors, carriage returns and the erasing of a line take effect, and other
 * control characters are escaped, unless `raw` is set.
 */
export interface OutputPrinter {
  /** Prints a piece of the output of an attempt. */
  print(data: Uint8Array, attempt?: number): void;
  /** Prints the rest after the last piece. A terminal is left at the start of a line. */
  end(): void;
  /** Turns off all colors after an interruption. Ctrl-C makes a terminal discard text, and maybe the last reset with it. */
  reset(): void;
}

const RESET = '\x1b[0m';
const MOVES_AND_ERASURES = /\r|\x1b\[[12]?K/g;
const ERASURES = /\x1b\[[12]?K/g;
const LONGEST_ERASURE = '\r\x1b[2K'.length;
/** Matches the end of a line that is erased, with the cursor at its start. */
const ERASED_LINE = /\r\x1b\[2?K$|\x1b\[2K\r$/;

/** Returns a printer that writes a stream of a job to the same stream of this process. */
export function outputPrinter(io: Io, raw: boolean, stream: Stream = 'stdout'): OutputPrinter {
  const target =
    stream === 'stderr'
      ? { write: io.errBytes, tty: io.errTty, color: io.errColor }
      : { write: io.bytes, tty: io.tty, color: io.color };
  if (!target.tty || raw) return { print: (data) => target.write(data), end() {}, reset() {} };
  const reader = outputParser();
  let inLine = false;
  /** The end of the current line. A sequence may be split between two writes. */
  let lineEnd = '';
  let colored = false;
  const show = (pieces: StyledText[]): void => {
    const text = pieces.map((piece) => piece.text).join('');
    if (text === '') return;
    const line = text.slice(text.lastIndexOf('\n') + 1);
    const continues = line.length === text.length;
    lineEnd = `${continues ? lineEnd : ''}${line}`.slice(-LONGEST_ERASURE);
    const hasText = (inLine && continues) || line.replace(MOVES_AND_ERASURES, '') !== '';
    inLine = hasText && !ERASED_LINE.test(lineEnd);
    const painted = target.color ? paintPieces(pieces) : text;
    colored ||= painted !== text;
    target.write(Buffer.from(io.dumb ? painted.replace(ERASURES, '') : painted));
  };
  return {
    print: (data) => show(reader.read(data)),
    end() {
      show(reader.end());
      if (inLine) target.write(Buffer.from('\n'));
      inLine = false;
    },
    reset() {
      if (colored) target.write(Buffer.from(RESET));
    },
  };
}

/**
 * Adds the color sequences. The text starts and ends plain, so that colors never reach the prompt or other messages,
 * however the command ends. The next text sets its colors again.
 */
function paintPieces(pieces: StyledText[]): string {
  let painted = '';
  let current: TextStyle = '';
  for (const { text, style } of pieces) {
    painted += transition(current, style) + text;
    current = style;
  }
  return painted + transition(current, '');
}

function transition(from: TextStyle, to: TextStyle): string {
  if (from === to) return '';
  if (to === '') return RESET;
  return from === '' ? `\x1b[${to}m` : `\x1b[0;${to}m`;
}
