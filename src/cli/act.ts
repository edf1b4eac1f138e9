import { readSync } from 'node:fs';
import { describeSkipped, type JobActionResult } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { cancelledWith, getJob } from '../actions/jobs.ts';
import { type Selection, selectJobs } from '../actions/select.ts';
import { withReasons } from '../actions/waiting-reasons.ts';
import { QueueError } from '../core/errors.ts';
import type { Job } from '../core/job.ts';
import { formatCount } from '../core/numbers.ts';
import { countOf, verbFor } from '../core/words.ts';
import { type Command, type Context, defineCommand, type Flag, type Input } from './command.ts';
import { FILTER_FLAGS, readFilter } from './filters.ts';
import { isTerminal } from './io.ts';
import { jobColumns } from './job-table.ts';
import { atMostOnceFields } from './print-changed.ts';
import { printTable } from './table.ts';
import { printable } from './text.ts';
import { timesFor } from './times.ts';
import { named, thatDepend, warnAlsoCancelled } from './warn-dependents.ts';

interface ActingCommand {
  name: string;
  summary: string;
  /** The past participle of the action, such as `cancelled`. */
  done: string;
  flags?: Record<string, Flag>;
  examples: string[];
  notes?: string[];
  /** What the action does to a job that others depend on. Those are then cancelled, and the command tells so before and after. */
  ends?: 'cancelled' | 'deleted';
  /** Returns the command that helps if the only job could not be changed. */
  hint?(app: App, id: string): Promise<string>;
  /** Returns null if there was nothing to change. */
  act(app: App, ids: string[], input: Input, context: Context): Promise<JobActionResult | null>;
}

const ACT_FLAGS: Record<string, Flag> = {
  yes: { short: 'y', help: 'do not ask for confirmation if the filters match several jobs' },
  'dry-run': { help: 'show what would change without changing anything' },
};

export const SHORT_IDS =
  'You can shorten an id to a unique prefix. @last refers to the most recently enqueued job.';

/** Builds a command that acts on jobs: by id, unique prefix or @last, or by the filters of `list`. */
export function actingCommand(command: ActingCommand): Command {
  const { name, summary, done, flags, examples, notes = [], ends = null, act } = command;
  return defineCommand({
    name,
    summary,
    args: '(ID… | FILTERS)',
    access: 'write',
    flags: { ...FILTER_FLAGS, ...ACT_FLAGS, ...flags },
    examples,
    notes: [...notes, SHORT_IDS],
    instead: ([first]) =>
      first === '--all' ? `to select all jobs: queuectl ${name} --state all` : undefined,
    async run(context, input) {
      const selection = selectionOf(name, flags ?? {}, input);
      const app = await context.app();
      const ids = await selectJobs(app, selection);
      const asks = 'filter' in selection && ids.length > 1 && !input.has('yes');
      const isTold = ends !== null && (asks || input.has('dry-run'));
      const lost = isTold ? await cancelledWith(app, ids, ends) : [];
      if (input.has('dry-run')) return preview(context, app, done, ids, lost);
      if (asks) {
        const question = `${name} ${countOf(ids.length)} (${firstIds(ids)})${alsoAsked(name, lost, ids)}?`;
        if (!confirmed(context, question, 'add --yes to confirm')) return 1;
      }
      const acted = await act(app, ids, input, context);
      if (acted === null && context.io.tty && !context.io.json && !context.io.quiet) {
        context.io.out('nothing was changed\n');
        return 0;
      }
      const [only, ...others] = acted?.unchanged ?? [];
      const alone = only !== undefined && others.length === 0 && acted?.changed.length === 0;
      const hint = alone ? await command.hint?.(app, only) : undefined;
      return report(context, done, acted ?? { changed: [], unchanged: [], why: '' }, hint);
    },
  });
}

/** Reads the ids or the filters, and throws unless exactly one of them is given. Flags in `otherFlags` are not filters. */
export function selectionOf(name: string, otherFlags: Record<string, Flag>, input: Input): Selection {
  const filters = Object.keys(FILTER_FLAGS).filter((flag) => input.has(flag) && !(flag in otherFlags));
  if (input.args.length > 0 && filters.length > 0) {
    throw new QueueError(
      'usage',
      `job ids cannot be combined with the filter --${filters[0]}`,
      `for help: queuectl help ${name}`,
    );
  }
  if (input.args.length === 0 && filters.length === 0) {
    throw new QueueError('usage', `${name} requires job ids or filters`, `for help: queuectl help ${name}`);
  }
  return input.args.length > 0 ? { names: input.args } : { filter: readFilter(input, Date.now()) };
}

/** Asks for confirmation on a terminal. Throws elsewhere, because a script has to pass --yes. */
export function confirmed({ io, environment }: Context, question: string, hint: string): boolean {
  if (!isTerminal(0) || !isTerminal(2) || environment.CI || environment.QUEUECTL_NO_INPUT) {
    throw new QueueError('needs-yes', `confirmation required: ${question.replace(/\?$/, '')}`, hint);
  }
  io.err(`${printable(question)} [y/N] `);
  const answer = Buffer.alloc(16);
  const isYes = /^y(es)?$/i.test(answer.toString('utf8', 0, readSync(0, answer)).trim());
  if (!isYes) io.err('nothing was changed\n');
  return isYes;
}

/** Returns the part of a question about jobs that would be cancelled with others. */
function alsoAsked(name: string, lost: string[], ids: string[]): string {
  if (lost.length === 0) return '';
  return ` and ${name === 'cancel' ? '' : 'cancel '}${thatDepend(lost, 'depend', ids.length)}`;
}

/** A question names this many jobs. */
const NAMED = 3;
/** A dry run shows this many jobs. */
const SHOWN = 10;

function firstIds(ids: string[]): string {
  return ids.slice(0, NAMED).map(printable).join(', ') + (ids.length > NAMED ? ', …' : '');
}

/** Shows the selected jobs, whether or not the action can change them: the first ones as a table on a terminal, else all ids. */
async function preview(
  context: Context,
  app: App,
  done: string,
  ids: string[],
  lost: string[],
): Promise<number> {
  const { io } = context;
  if (io.json || !io.tty || io.quiet)
    return report(context, `would be ${done}`, { changed: ids, unchanged: [], why: '', alsoCancelled: lost });
  const jobs: Job[] = [];
  for (const id of ids.slice(0, SHOWN)) jobs.push(await getJob(app, id));
  printTable(io, jobColumns(timesFor(io, app.clock.now())), await withReasons(app, jobs));
  if (ids.length > SHOWN) io.out(`and ${formatCount(ids.length - SHOWN)} more\n`);
  const also =
    lost.length === 0
      ? ''
      : `, and ${thatDepend(lost, 'depend', ids.length)} would be cancelled: ${named(lost)}`;
  io.out(`${countOf(ids.length)} would be ${done}${also}\n`);
  return 0;
}

/** Prints what changed and what did not. Returns 0 if all jobs changed, 7 if some did, and throws if none did. */
function report({ io }: Context, done: string, acted: JobActionResult, hint?: string): number {
  const { changed, unchanged, skippedAtMostOnce: skipped = [], why, alsoCancelled: lost = [] } = acted;
  const others = unchanged.length - skipped.length;
  const unchangedText = [
    ...(others > 0 ? [`${countOf(others)} ${verbFor(others, why)}`] : []),
    ...(skipped.length > 0 ? [describeSkipped(skipped.length)] : []),
  ].join('; ');
  if (io.json)
    io.out(
      `${JSON.stringify({ [done.replaceAll(' ', '_')]: changed, unchanged, ...otherFields(done, acted) })}\n`,
    );
  else if (!io.tty || io.quiet) {
    io.out(changed.map((id) => `${id}\n`).join(''));
    warnAlsoCancelled(io, done.startsWith('would') ? 'this would also cancel' : 'also cancelled', lost);
  } else if (changed.length > 0 || unchanged.length === 0)
    io.out(
      `${done} ${countOf(changed.length)}${alsoText(done, acted)}${unchangedText === '' ? '' : `; ${unchangedText}`}\n`,
    );
  if (unchanged.length === 0) return 0;
  if (changed.length > 0) {
    if (!io.tty) io.warn(unchangedText);
    return 7;
  }
  throw nothingDone(done, acted, unchangedText, hint);
}

/** Returns the further fields of a JSON answer. */
function otherFields(done: string, acted: JobActionResult): object {
  const { alsoCancelled = [] } = acted;
  const name = done.startsWith('would') ? 'would_also_be_cancelled' : 'also_cancelled';
  return { ...(alsoCancelled.length > 0 ? { [name]: alsoCancelled } : {}), ...atMostOnceFields(acted) };
}

function alsoText(done: string, { changed, alsoCancelled = [] }: JobActionResult): string {
  if (alsoCancelled.length === 0) return '';
  const what = thatDepend(alsoCancelled, 'depended', changed.length);
  return ` and ${done === 'cancelled' ? '' : 'cancelled '}${what}: ${named(alsoCancelled)}`;
}

function nothingDone(
  done: string,
  { unchanged, skippedAtMostOnce: skipped = [], why }: JobActionResult,
  unchangedText: string,
  given?: string,
): QueueError {
  const [first] = unchanged;
  if (unchanged.length === 1 && skipped.length === 0)
    return new QueueError(
      'wrong-state',
      `nothing was ${done}: job '${first}' ${verbFor(1, why)}`,
      given ?? `to show the job: queuectl show ${first}`,
    );
  const all = skipped.length === 0 ? `${countOf(unchanged.length)} ${why}` : unchangedText;
  const hint =
    skipped[0] === undefined
      ? `to show the first one: queuectl show ${first}`
      : `to retry ${skipped.length === 1 ? 'it' : 'the first one'}: queuectl retry ${skipped[0]}`;
  return new QueueError('wrong-state', `nothing was ${done}: ${all}`, hint);
}
