import { readSync } from 'node:fs';
import type { App } from '../../actions/app.ts';
import type { JobActionResult } from '../../actions/jobs/act.ts';
import {
  type ActionOptions,
  JOB_ACTIONS,
  type JobAction,
  type JobVerb,
} from '../../actions/jobs/job-actions.ts';
import { type Selection, selectJobs } from '../../actions/jobs/jobs.ts';
import { QueueError, usageError } from '../../core/errors.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { FILTER_FLAGS, readFilter } from '../print/job-table.ts';
import { bulkQuestion, reportPreview, reportResult } from '../print/report-action.ts';
import { printable } from '../print/text.ts';
import { type Command, type Context, defineCommand, type Flag, type Input } from './command.ts';
import { isTerminal } from './io.ts';

interface JobActionDefinition
  extends Pick<Command, 'summary' | 'examples' | 'notes'>,
    Partial<Pick<Command, 'flags'>> {
  verb: JobVerb;
  /** Returns the hint of the error if a single job was selected and could not be changed. */
  hint?(app: App, id: string): Promise<string>;
  /** Returns the options of the action, or null if the user made no changes in the editor. A preview opens no editor. */
  options?(call: ActionCall, isPreview: boolean): Promise<ActionOptions | null>;
  after?(call: ActionCall, result: JobActionResult, options: ActionOptions): Promise<void>;
}

export interface ActionCall {
  app: App;
  ids: string[];
  input: Input;
  context: Context;
}

export const DRY_RUN_FLAG: Record<string, Flag> = {
  'dry-run': { help: 'show what would change without changing anything' },
};
const ACT_FLAGS: Record<string, Flag> = {
  yes: { short: 'y', help: 'do not ask for confirmation if the filters match several jobs' },
  ...DRY_RUN_FLAG,
};

export const SHORT_IDS_NOTE =
  'You can shorten an id to a unique prefix. @last refers to the most recently enqueued job.';

/** Builds a command that acts on jobs: by id, unique prefix or @last, or by the filters of `list`. */
export function jobActionCommand(definition: JobActionDefinition): Command {
  const { verb, summary, flags = {}, examples, notes = [] } = definition;
  const { act, preview, done } = JOB_ACTIONS[verb] as JobAction;
  return defineCommand({
    name: verb,
    summary,
    args: '(ID… | FILTERS)',
    access: 'write',
    flags: { ...FILTER_FLAGS, ...ACT_FLAGS, ...flags },
    examples,
    notes: [...notes, SHORT_IDS_NOTE],
    usageHint: ([first]) =>
      first === '--all' ? `to select all jobs: queuectl ${shellWord(verb)} --state all` : undefined,
    async run(context, input) {
      const selection = selectionOf(verb, flags, input);
      const app = await context.app();
      const ids = await selectJobs(app, selection);
      const call: ActionCall = { app, ids, input, context };
      const hint = async ({ changed, unchanged }: JobActionResult) =>
        unchanged.length === 1 && changed.length === 0 ? definition.hint?.(app, unchanged[0]!) : undefined;
      const optionsOf = async (isPreview: boolean): Promise<ActionOptions | null> =>
        definition.options === undefined ? {} : definition.options(call, isPreview);
      const asks = 'filter' in selection && ids.length > 1 && !input.has('yes');
      if (asks || input.has('dry-run')) {
        const expected = await preview(app, ids, (await optionsOf(true))!);
        if (input.has('dry-run')) return reportPreview(context, app, done, expected, await hint(expected));
        const question = bulkQuestion(verb, expected);
        // Without a job to change there is nothing to confirm, and the error below gives the reason.
        if (expected.changed.length > 0 && !askToConfirm(context, question, 'add --yes to confirm')) return 1;
      }
      const options = await optionsOf(false);
      if (options === null && context.io.tty && !context.io.json && !context.io.quiet) {
        context.io.out('nothing was changed\n');
        return 0;
      }
      const nothing: JobActionResult = { changed: [], unchanged: [], why: '' };
      const result = options === null ? nothing : await act(app, ids, options);
      if (options !== null) await definition.after?.(call, result, options);
      return reportResult(context, done, result, await hint(result));
    },
  });
}

/** Reads either ids or filters, and throws if both or none are given. A flag that is also in `otherFlags` is not a filter. */
export function selectionOf(commandName: string, otherFlags: Record<string, Flag>, input: Input): Selection {
  const filters = Object.keys(FILTER_FLAGS).filter((flag) => input.has(flag) && !(flag in otherFlags));
  const hasIds = input.args.length > 0;
  if (hasIds === filters.length > 0)
    throw usageError(
      hasIds
        ? `job ids cannot be combined with the filter --${filters[0]}`
        : `${commandName} requires job ids or filters`,
      `for help: queuectl help ${commandName}`,
    );
  return hasIds ? { references: input.args } : { filter: readFilter(input) };
}

/** Asks a question and returns true for yes. Throws without a terminal or with CI or QUEUECTL_NO_INPUT: scripts pass --yes. */
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
