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
import { atMostOnceFields } from './print-result.ts';
import { printTable } from './table.ts';
import { printable } from './text.ts';
import { timesFor } from './times.ts';
import { dependentsPhrase, pasteableIds, warnAlsoCancelled } from './warn-dependents.ts';

interface JobActionDefinition {
  name: string;
  summary: string;
  /** The past participle of the action, such as `cancelled`. */
  participle: string;
  flags?: Record<string, Flag>;
  examples: string[];
  notes?: string[];
  /** How the action ends a job. The jobs that depend on it are then cancelled, which the question and the result mention. */
  endsAs?: 'cancelled' | 'deleted';
  /** Returns the hint of the error if a single job was selected and could not be changed. */
  hint?(app: App, id: string): Promise<string>;
  /** Performs the action. Returns null if the user made no changes in the editor. */
  act(app: App, ids: string[], input: Input, context: Context): Promise<JobActionResult | null>;
}

const ACT_FLAGS: Record<string, Flag> = {
  yes: { short: 'y', help: 'do not ask for confirmation if the filters match several jobs' },
  'dry-run': { help: 'show what would change without changing anything' },
};

export const SHORT_IDS_NOTE =
  'You can shorten an id to a unique prefix. @last refers to the most recently enqueued job.';

/** Builds a command that acts on jobs: by id, unique prefix or @last, or by the filters of `list`. */
export function jobActionCommand(command: JobActionDefinition): Command {
  const { name, summary, participle, flags, examples, notes = [], endsAs = null, act } = command;
  return defineCommand({
    name,
    summary,
    args: '(ID… | FILTERS)',
    access: 'write',
    flags: { ...FILTER_FLAGS, ...ACT_FLAGS, ...flags },
    examples,
    notes: [...notes, SHORT_IDS_NOTE],
    usageHint: ([first]) =>
      first === '--all' ? `to select all jobs: queuectl ${name} --state all` : undefined,
    async run(context, input) {
      const selection = selectionOf(name, flags ?? {}, input);
      const app = await context.app();
      const ids = await selectJobs(app, selection);
      const asks = 'filter' in selection && ids.length > 1 && !input.has('yes');
      const showsDependents = endsAs !== null && (asks || input.has('dry-run'));
      const dependents = showsDependents ? await cancelledWith(app, ids, endsAs) : [];
      if (input.has('dry-run')) return preview(context, app, participle, ids, dependents);
      if (asks) {
        const question = `${name} ${countOf(ids.length)} (${firstIds(ids)})${dependentsQuestion(name, dependents, ids)}?`;
        if (!askToConfirm(context, question, 'add --yes to confirm')) return 1;
      }
      const acted = await act(app, ids, input, context);
      if (acted === null && context.io.tty && !context.io.json && !context.io.quiet) {
        context.io.out('nothing was changed\n');
        return 0;
      }
      const [only, ...others] = acted?.unchanged ?? [];
      const isSingle = only !== undefined && others.length === 0 && acted?.changed.length === 0;
      const hint = isSingle ? await command.hint?.(app, only) : undefined;
      return reportResult(context, participle, acted ?? { changed: [], unchanged: [], why: '' }, hint);
    },
  });
}

/** Reads either ids or filters, and throws if both or none are given. A flag that is also in `otherFlags` is not a filter. */
export function selectionOf(commandName: string, otherFlags: Record<string, Flag>, input: Input): Selection {
  const filters = Object.keys(FILTER_FLAGS).filter((flag) => input.has(flag) && !(flag in otherFlags));
  if (input.args.length > 0 && filters.length > 0) {
    throw new QueueError(
      'usage',
      `job ids cannot be combined with the filter --${filters[0]}`,
      `for help: queuectl help ${commandName}`,
    );
  }
  if (input.args.length === 0 && filters.length === 0) {
    throw new QueueError(
      'usage',
      `${commandName} requires job ids or filters`,
      `for help: queuectl help ${commandName}`,
    );
  }
  return input.args.length > 0 ? { references: input.args } : { filter: readFilter(input, Date.now()) };
}

/**
 * Asks a question and returns whether the answer was yes. Throws without a terminal, or with CI or QUEUECTL_NO_INPUT set,
 * because a script has to pass --yes.
 */
export function askToConfirm({ io, environment }: Context, question: string, hint: string): boolean {
  if (!isTerminal(0) || !isTerminal(2) || environment.CI || environment.QUEUECTL_NO_INPUT) {
    throw new QueueError('needs-yes', `confirmation required: ${question.replace(/\?$/, '')}`, hint);
  }
  io.err(`${printable(question)} [y/N] `);
  const answer = Buffer.alloc(16);
  const isYes = /^y(es)?$/i.test(answer.toString('utf8', 0, readSync(0, answer)).trim());
  if (!isYes) io.err('nothing was changed\n');
  return isYes;
}

/** Returns the part of a question about dependent jobs that would be cancelled too, or an empty text. */
function dependentsQuestion(name: string, dependents: string[], ids: string[]): string {
  if (dependents.length === 0) return '';
  return ` and ${name === 'cancel' ? '' : 'cancel '}${dependentsPhrase(dependents, 'depend', ids.length)}`;
}

/** A question lists the ids of this many jobs. */
const LISTED_IDS = 3;
/** A dry run on a terminal shows this many jobs. */
const PREVIEWED_JOBS = 10;

function firstIds(ids: string[]): string {
  return ids.slice(0, LISTED_IDS).map(printable).join(', ') + (ids.length > LISTED_IDS ? ', …' : '');
}

/** Shows the selected jobs, whether or not the action can change them: the first ones as a table on a terminal, else all ids. */
async function preview(
  context: Context,
  app: App,
  participle: string,
  ids: string[],
  dependents: string[],
): Promise<number> {
  const { io } = context;
  if (io.json || !io.tty || io.quiet)
    return reportResult(context, `would be ${participle}`, {
      changed: ids,
      unchanged: [],
      why: '',
      alsoCancelled: dependents,
    });
  const jobs: Job[] = [];
  for (const id of ids.slice(0, PREVIEWED_JOBS)) jobs.push(await getJob(app, id));
  printTable(io, jobColumns(timesFor(io, app.clock.now())), await withReasons(app, jobs));
  if (ids.length > PREVIEWED_JOBS) io.out(`and ${formatCount(ids.length - PREVIEWED_JOBS)} more\n`);
  const also =
    dependents.length === 0
      ? ''
      : `, and ${dependentsPhrase(dependents, 'depend', ids.length)} would be cancelled: ${pasteableIds(dependents)}`;
  io.out(`${countOf(ids.length)} would be ${participle}${also}\n`);
  return 0;
}

/**
 * Prints what changed and what did not. `done` is a phrase such as `cancelled` or `would be cancelled`. Returns 0 if no job
 * stayed unchanged, and 7 if only some changed. Throws if all stayed unchanged.
 */
function reportResult({ io }: Context, done: string, acted: JobActionResult, hint?: string): number {
  const { changed, unchanged, skippedAtMostOnce: skipped = [], why, alsoCancelled: dependents = [] } = acted;
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
  throw nothingChangedError(done, acted, unchangedText, hint);
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

function nothingChangedError(
  done: string,
  { unchanged, skippedAtMostOnce: skipped = [], why }: JobActionResult,
  unchangedText: string,
  singleJobHint?: string,
): QueueError {
  const [first] = unchanged;
  if (unchanged.length === 1 && skipped.length === 0)
    return new QueueError(
      'wrong-state',
      `nothing was ${done}: job '${first}' ${verbFor(1, why)}`,
      singleJobHint ?? `to show the job: queuectl show ${first}`,
    );
  const all = skipped.length === 0 ? `${countOf(unchanged.length)} ${why}` : unchangedText;
  const hint =
    skipped[0] === undefined
      ? `to show the first one: queuectl show ${first}`
      : `to retry ${skipped.length === 1 ? 'it' : 'the first one'}: queuectl retry ${skipped[0]}`;
  return new QueueError('wrong-state', `nothing was ${done}: ${all}`, hint);
}
