import type { Stream } from '../core/job.ts';
import type { Io } from './io.ts';
import { printable } from './text.ts';

/** Prints the output of a job. On a terminal, control characters are escaped, unless `raw` is set. */
export interface OutputPrinter {
  /** Prints a piece of the output of an attempt. */
  print(data: Uint8Array, attempt?: number): void;
  /** Prints the rest after the last piece. A terminal is left at the start of a line. */
  end(): void;
}

/** Returns a printer that writes a stream of a job to the same stream of this process. */
export function outputPrinter(io: Io, raw: boolean, stream: Stream = 'stdout'): OutputPrinter {
  const isErr = stream === 'stderr';
  const out = isErr ? io.err : io.out;
  if (!(isErr ? io.errTty : io.tty) || raw)
    return { print: (data) => (isErr ? io.errBytes(data) : io.bytes(data)), end() {} };
  let decoder = new TextDecoder();
  let held = '';
  let inLine = false;
  const show = (text: string): void => {
    if (text === '') return;
    inLine = !text.endsWith('\n');
    out(safe(text));
  };
  return {
    print(data) {
      const text = held + decoder.decode(data, { stream: true });
      // The next piece may start with the newline of this carriage return, and then it needs no escape.
      held = text.endsWith('\r') ? '\r' : '';
      show(held === '' ? text : text.slice(0, -1));
    },
    end() {
      show(held + decoder.decode());
      decoder = new TextDecoder();
      held = '';
      if (inLine) out('\n');
      inLine = false;
    },
  };
}

/** Escapes control characters, except for line breaks and tabs. */
function safe(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n');
}
