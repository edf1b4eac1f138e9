import type { JobActionResult } from '../actions/act.ts';
import { countOf } from '../core/words.ts';
import type { Io } from './io.ts';
import { jsonText } from './layout.ts';

/** Prints the jobs that changed: a sentence on a terminal, else their ids. JSON has `moreFields` beside the ids. */
export function printChanged(io: Io, participle: string, ids: string[], moreFields: object = {}): void {
  if (io.json) io.out(`${JSON.stringify({ [participle]: ids, ...moreFields })}\n`);
  else if (!io.tty || io.quiet) io.out(ids.map((id) => `${id}\n`).join(''));
  else io.out(`${participle} ${countOf(ids.length)}${ids.length === 1 ? `: ${ids[0]}` : ''}\n`);
}

/** Prints the result of a command: an object with --json, a sentence on a terminal, else one value for scripts. */
export function printResult(io: Io, object: object, sentence: string, value: string | number): void {
  if (io.json) io.out(`${jsonText(io, object)}\n`);
  else io.out(`${io.tty && !io.quiet ? sentence : value}\n`);
}

/** Returns the fields of a JSON answer about at-most-once jobs. There are none if no such job was affected. */
export function atMostOnceFields(acted: Partial<JobActionResult>): object {
  const { skippedAtMostOnce: skipped = [], retriedAtMostOnce = [] } = acted;
  return {
    ...(skipped.length > 0 ? { skipped } : {}),
    ...(retriedAtMostOnce.length > 0 ? { started_again: retriedAtMostOnce } : {}),
  };
}

/** Warns that at-most-once jobs are started once more. */
export function warnStartedAgain(io: Io, ids: string[]): void {
  for (const id of ids)
    io.warn(`job '${id}' is an at-most-once job that has already been started; the retry starts it again`);
}
