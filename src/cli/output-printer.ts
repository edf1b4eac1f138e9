import type { Stream } from '../core/job.ts';
import type { Io } from './io.ts';
import { printable } from './text.ts';

/** Prints what a job wrote. To a terminal its control characters are shown, not obeyed, unless told otherwise. */
export interface OutputPrinter {
  print(data: Uint8Array): void;
  /** Nothing more comes: says what was held back, and leaves a terminal at the beginning of a line. */
  end(): void;
}

/** What went to stderr goes there again. */
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
      // The newline that makes it harmless may be the first thing to come next.
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

/** Lines and tabs as they are. */
function safe(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n');
}
