import type { App } from '../../actions/app.ts';
import { describeSkipped, type JobActionResult } from '../../actions/jobs/act.ts';
import { cancelledBecauseOf, getJob, parentsOf } from '../../actions/jobs/jobs.ts';
import { withReasons } from '../../actions/jobs/waiting-reasons.ts';
import { QueueError } from '../../core/errors.ts';
import type { Job } from '../../core/jobs/job.ts';
import { formatCount } from '../../core/text/numbers.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { countOf, verbFor } from '../../core/text/words.ts';
import type { Context } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { jobColumns } from './job-table.ts';
import { printJson } from './layout.ts';
import { timesFor } from './print-list.ts';
import { printTable } from './table.ts';
import { printable } from './text.ts';

/** A question lists the ids of this many jobs. */
const LISTED_IDS = 3;
/** A dry run on a terminal shows this many jobs. */
const PREVIEWED_JOBS = 10;
/** A message names this many dependent jobs. */
const NAMED_JOBS = 5;
/** After a retry, only this many jobs are checked, because nobody reads more warnings. */
const MAX_CHECKED = 1000;

/** Returns the question before a bulk action, such as `2 jobs had already finished; cancel 3 jobs (a, b, c)?`. */
export function bulkQuestion(name: string, expected: JobActionResult): string {
  const { changed, alsoCancelled: dependents = [] } = expected;
  const ids = changed.slice(0, LISTED_IDS).map(printable).join(', ');
  const also =
    dependents.length === 0
      ? ''
      : ` and ${name === 'cancel' ? '' : 'cancel '}${dependentsPhrase(dependents, 'depend', changed.length)}`;
  const action = `${name} ${countOf(changed.length)} (${ids}${changed.length > LISTED_IDS ? ', …' : ''})${also}`;
  return `${[...unchangedTexts(expected), action].join('; ')}?`;
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
  const text = `${countOf(changed.length)} would be ${participle}${also}`;
  io.out(`${[text, ...unchangedTexts(expected)].join('; ')}\n`);
  return unchanged.length === 0 ? 0 : 7;
}

function unchangedTexts({ unchanged, skippedAtMostOnce: skipped = [], why }: JobActionResult): string[] {
  const others = unchanged.length - skipped.length;
  return [
    ...(others > 0 ? [`${countOf(others)} ${verbFor(others, why)}`] : []),
    ...(skipped.length > 0 ? [describeSkipped(skipped.length)] : []),
  ];
}

/** Returns the hint for at-most-once jobs that a bulk retry skipped. `commandName` retries them by id. */
export function retryHint(commandName: 'retry' | 'dlq retry', skipped: string[]): string {
  return `to retry ${skipped.length === 1 ? 'it' : 'the first one'}: queuectl ${commandName} ${shellWord(skipped[0]!)}`;
}

/**
 * Prints what changed and what did not. `done` is a phrase such as `cancelled` or `would be cancelled`. Returns 0 if no job
 * stayed unchanged, and 7 if only some changed. Throws if all stayed unchanged.
 */
export function reportResult({ io }: Context, done: string, acted: JobActionResult, hint?: string): number {
  const { changed, unchanged, alsoCancelled: dependents = [] } = acted;
  const isPreview = done.startsWith('would');
  if (io.json) {
    const alsoName = isPreview ? 'would_also_be_cancelled' : 'also_cancelled';
    const also = dependents.length > 0 ? { [alsoName]: dependents } : {};
    const object = { [done.replaceAll(' ', '_')]: changed, unchanged, ...also, ...atMostOnceFields(acted) };
    printJson(io, object);
  } else if (!io.tty || io.quiet) {
    io.out(changed.map((id) => `${id}\n`).join(''));
    // stdout lists only the selected jobs.
    if (dependents.length > 0)
      io.warn(
        `${isPreview ? 'this would also cancel' : 'also cancelled'} ${dependentJobs(dependents)}: ${pasteableIds(dependents)}`,
      );
  } else if (changed.length > 0 || unchanged.length === 0)
    io.out(
      `${[`${done} ${countOf(changed.length)}${dependentsText(done, acted)}`, ...unchangedTexts(acted)].join('; ')}\n`,
    );
  if (unchanged.length === 0) return 0;
  if (changed.length === 0) throw nothingChangedError(done, acted, hint);
  if (!io.tty) io.warn(unchangedTexts(acted).join('; '));
  return 7;
}

/** Returns the fields of a JSON answer about at-most-once jobs. There are none if no such job was affected. */
export function atMostOnceFields(acted: Partial<JobActionResult>): object {
  const { skippedAtMostOnce: skipped = [], retriedAtMostOnce = [] } = acted;
  return {
    ...(skipped.length > 0 ? { skipped } : {}),
    ...(retriedAtMostOnce.length > 0 ? { started_again: retriedAtMostOnce } : {}),
  };
}

export function warnStartedAgain(io: Io, ids: string[]): void {
  for (const id of ids)
    io.warn(`job '${id}' is an at-most-once job that has already been started; the retry starts it again`);
}

function dependentsText(done: string, { changed, alsoCancelled = [] }: JobActionResult): string {
  if (alsoCancelled.length === 0) return '';
  const what = dependentsPhrase(alsoCancelled, 'depended', changed.length);
  return ` and ${done === 'cancelled' ? '' : 'cancelled '}${what}: ${pasteableIds(alsoCancelled)}`;
}

function nothingChangedError(done: string, acted: JobActionResult, hint?: string): QueueError {
  const { unchanged, skippedAtMostOnce: skipped = [], why } = acted;
  const [first] = unchanged;
  const isOne = unchanged.length === 1;
  let what = isOne ? `job '${first}' ${verbFor(1, why)}` : `${countOf(unchanged.length)} ${why}`;
  let next = `to show the ${isOne ? 'job' : 'first one'}: queuectl show ${shellWord(first!)}`;
  if (skipped.length > 0) {
    what = unchangedTexts(acted).join('; ');
    next = retryHint('retry', skipped);
  }
  const nothing = done.startsWith('would') ? 'nothing' : 'nothing was';
  return new QueueError('wrong-state', `${nothing} ${done}: ${what}`, hint ?? next);
}

/** Warns about dependent jobs that stay cancelled after a retry, and about retried jobs that no longer wait for a parent. */
export async function warnAfterRetry(io: Io, app: App, retried: string[]): Promise<void> {
  const ids = await cancelledBecauseOf(app, retried, { limit: MAX_CHECKED });
  const [stay, them] = ids.length === 1 ? ['stays', 'it'] : ['stay', 'them'];
  if (ids.length > 0)
    io.warn(`${dependentJobs(ids)} ${stay} cancelled; to retry ${them}: queuectl retry ${pasteableIds(ids)}`);
  for (const id of retried.slice(0, MAX_CHECKED)) {
    const failedParents = (await parentsOf(app, id)).filter((parent) => parent.phase === 'failed');
    const named = failedParents.map((parent) => `${parent.id} (${parent.state ?? 'deleted'})`).join(', ');
    if (named !== '') io.warn(`job ${printable(id)} no longer waits for ${printable(named)}`);
  }
}

/** Describes dependent jobs, such as `2 jobs that depend on them`. `parents` is the number of jobs they depend on. */
export function dependentsPhrase(ids: string[], verb: 'depend' | 'depended', parents: number): string {
  const on = parents === 1 ? 'it' : 'them';
  return `${countOf(ids.length)} that ${ids.length === 1 && verb === 'depend' ? 'depends' : verb} on ${on}`;
}

const dependentJobs = (ids: string[]): string => countOf(ids.length, 'dependent job');

/** Returns the first ids, separated by spaces, so that they can be pasted into a command. */
function pasteableIds(ids: string[]): string {
  return ids.slice(0, NAMED_JOBS).map(shellWord).join(' ') + (ids.length > NAMED_JOBS ? ' …' : '');
}
