import { countOf } from '../core/words.ts';
import type { Io } from './io.ts';

/** Says what changed: a sentence for a person, the ids for a script. */
export function printChanged(io: Io, verb: string, ids: string[]): void {
  if (io.json) io.out(`${JSON.stringify({ [verb]: ids })}\n`);
  else if (!io.tty || io.quiet) io.out(ids.map((id) => `${id}\n`).join(''));
  else io.out(`${verb} ${countOf(ids.length)}${ids.length === 1 ? `: ${ids[0]}` : ''}\n`);
}
