import type { Io } from './io.ts';

/** Returns what a printing function would have written to stdout, including its notes. */
export async function capture(io: Io, print: (inside: Io) => Promise<void> | void): Promise<string> {
  let text = '';
  await print({
    ...io,
    out: (more) => {
      text += more;
    },
    note: (more) => {
      text += `note: ${more}\n`;
    },
  });
  return text;
}
