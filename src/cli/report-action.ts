import { describeSkipped, type JobActionResult } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { getJob } from '../actions/jobs.ts';
import { withReasons } from '../actions/waiting-reasons.ts';
import { QueueError } from '../core/errors.ts';
import type { Job } from '../core/job.ts';
import { formatCount } from '../core/numbers.ts';
import { countOf, verbFor } from '../core/words.ts';
import type { Context } from './command.ts';
import { jobColumns } from './job-table.ts';
import { atMostOnceFields, warnStartedAgain } from './print-result.ts';
import { printTable } from './table.ts';
import { printable } from './text.ts';
import { timesFor } from './times.ts';
import { dependentsPhrase, pasteableIds, warnAlsoCancelled } from './warn-dependents.ts';

/** A question lists the ids of this many jobs. */
const LISTED_IDS = 3;
/** A dry run on a terminal shows this many jobs. */
const PREVIEWED_JOBS = 10;

/** Returns the question before a bulk action, such as `2 jobs had already finished; cancel 3 jobs (a, b, c)?`. */
export function bulkQuestion(name: string, expected: JobActionResult): string {
  const { changed, unchanged, alsoCancelled: dependents = [] } = expected;
  const also =
    dependents.length === 0
      ? ''
      : ` and ${name === 'cancel' ? '' : 'cancel '}${dependentsPhrase(dependents, 'depend', changed.length)}`;
  const others = unchanged.length === 0 ? '' : `${describeUnchanged(expected)}; `;
  return `${others}${name} ${countOf(changed.length)} (${firstIds(changed)})${also}?`;
}

function firstIds(ids: string[]): string {
  return ids.slice(0, LISTED_IDS).map(printable).join(', ') + (ids.length > LISTED_IDS ? ', …' : '');
}

/** Shows the jobs that an action would change: the first on a terminal, else all ids. Returns or throws as the action does. */
export async function reportPreview(
  context: Context,
  app: App,
  participle: string,
  expected: JobActionResult,
  hint?: string,
): Promise<number> {
  const { io } = context;
  const { changed, unchanged, alsoCancelled: dependents = [] } = expected;
  warnStartedAgain(io, expected.retriedAtMostOnce ?? []);
  const nothingChanges = changed.length === 0 && unchanged.length > 0;
  if (io.json || !io.tty || io.quiet || nothingChanges)
    return reportResult(context, `would be ${participle}`, expected, hint);
  const jobs: Job[] = [];
  for (const id of changed.slice(0, PREVIEWED_JOBS)) jobs.push(await getJob(app, id));
  printTable(io, jobColumns(timesFor(io, app.clock.now())), await withReasons(app, jobs));
  if (changed.length > PREVIEWED_JOBS) io.out(`and ${formatCount(changed.length - PREVIEWED_JOBS)} more\n`);
  const also =
    dependents.length === 0
      ? ''
      : `, and ${dependentsPhrase(dependents, 'depend', changed.length)} would be cancelled: ${pasteableIds(dependents)}`;
  const others = unchanged.length === 0 ? '' : `; ${describeUnchanged(expected)}`;
  io.out(`${countOf(changed.length)} would be ${participle}${also}${others}\n`);
  return unchanged.length === 0 ? 0 : 7;
}

/** Returns how many jobs stay unchanged, with the reasons. */
function describeUnchanged({ unchanged, skippedAtMostOnce: skipped = [], why }: JobActionResult): string {
  const others = unchanged.length - skipped.length;
  return [
    ...(others > 0 ? [`${countOf(others)} ${verbFor(others, why)}`] : []),
    ...(skipped.length > 0 ? [describeSkipped(skipped.length)] : []),
  ].join('; ');
}

/** Returns the hint for at-most-once jobs that a bulk retry skipped. `command` retries them by id. */
export function retryHint(command: 'retry' | 'dlq retry', skipped: string[]): string {
  return `to retry ${skipped.length === 1 ? 'it' : 'the first one'}: queuectl ${command} ${skipped[0]}`;
}

/**
 * Prints what changed and what did not. `done` is a phrase such as `cancelled` or `would be cancelled`. Returns 0 if no job
 * stayed unchanged, and 7 if only some changed. Throws if all stayed unchanged.
 */
export function reportResult({ io }: Context, done: string, acted: JobActionResult, hint?: string): number {
  const { changed, unchanged, alsoCancelled: dependents = [] } = acted;
  const unchangedText = describeUnchanged(acted);
  if (io.json)
    io.out(
      `${JSON.stringify({ [done.replaceAll(' ', '_')]: changed, unchanged, ...otherFields(done, acted) })}\n`,
    );
  else if (!io.tty || io.quiet) {
    io.out(changed.map((id) => `${id}\n`).join(''));
    warnAlsoCancelled(io, done.startsWith('would') ? 'this would also cancel' : 'also cancelled', dependents);
  } else if (changed.length > 0 || unchanged.length === 0)
    io.out(
      `${done} ${countOf(changed.length)}${dependentsText(done, acted)}${unchangedText === '' ? '' : `; ${unchangedText}`}\n`,
    );
  if (unchanged.length === 0) return 0;
  if (changed.length > 0) {
    if (!io.tty) io.warn(unchangedText);
    return 7;
  }
  throw nothingChangedError(done, acted, hint);
}

/** Returns the further fields of a JSON answer. */
function otherFields(done: string, acted: JobActionResult): object {
  const { alsoCancelled = [] } = acted;
  const name = done.startsWith('would') ? 'would_also_be_cancelled' : 'also_cancelled';
  return { ...(alsoCancelled.length > 0 ? { [name]: alsoCancelled } : {}), ...atMostOnceFields(acted) };
}

function dependentsText(done: string, { changed, alsoCancelled = [] }: JobActionResult): string {
  if (alsoCancelled.length === 0) return '';
  const what = dependentsPhrase(alsoCancelled, 'depended', changed.length);
  return ` and ${done === 'cancelled' ? '' : 'cancelled '}${what}: ${pasteableIds(alsoCancelled)}`;
}

function nothingChangedError(done: string, acted: JobActionResult, otherHint?: string): QueueError {
  const { unchanged, skippedAtMostOnce: skipped = [], why } = acted;
  const nothing = done.startsWith('would') ? 'nothing' : 'nothing was';
  const [first] = unchanged;
  if (unchanged.length === 1 && skipped.length === 0)
    return new QueueError(
      'wrong-state',
      `${nothing} ${done}: job '${first}' ${verbFor(1, why)}`,
      otherHint ?? `to show the job: queuectl show ${first}`,
    );
  const all = skipped.length === 0 ? `${countOf(unchanged.length)} ${why}` : describeUnchanged(acted);
  const hint =
    skipped.length === 0 ? `to show the first one: queuectl show ${first}` : retryHint('retry', skipped);
  return new QueueError('wrong-state', `${nothing} ${done}: ${all}`, otherHint ?? hint);
}
