import type { Io } from './io.ts';

/** What a printing function would have written to stdout, notes included. */
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
