import { readSync } from 'node:fs';
import type { Acted } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { type Selection, selectJobs } from '../actions/select.ts';
import { QueueError } from '../core/errors.ts';
import type { Command, Context, Flag, Input } from './command.ts';
import { FILTER_FLAGS, readFilter } from './filters.ts';
import { isTerminal } from './io.ts';

interface ActingCommand {
  name: string;
  summary: string;
  /** What was done: "cancelled". */
  done: string;
  flags?: Record<string, Flag>;
  examples: string[];
  notes?: string[];
  act(app: App, ids: string[], input: Input, context: Context): Promise<Acted>;
}

const ACT_FLAGS: Record<string, Flag> = {
  yes: { short: 'y', help: 'do not ask when several jobs match' },
  'dry-run': { help: 'show what would change, and change nothing' },
};

export const SHORT_IDS =
  'An id may be shortened to a beginning that no other id has; @last is the job enqueued last.';

/** Every verb that acts on jobs: by id, by the beginning of one, @last, several of them, or by the filters of `list`. */
export function actingCommand(command: ActingCommand): Command {
  const { name, summary, done, flags, examples, notes = [], act } = command;
  return {
    name,
    summary,
    args: 'ID… | filters',
    most: Number.POSITIVE_INFINITY,
    flags: { ...FILTER_FLAGS, ...ACT_FLAGS, ...flags },
    examples,
    notes: [...notes, SHORT_IDS],
    async run(context, input) {
      const selection = selectionOf(name, flags ?? {}, input);
      const app = await context.app();
      const ids = await selectJobs(app, selection);
      if (input.has('dry-run'))
        return report(context, `would be ${done}`, { changed: ids, unchanged: [], why: '' });
      if ('filter' in selection && ids.length > 1 && !input.has('yes')) {
        if (!confirmed(context, `${name} ${ids.length} jobs?`, `queuectl ${name} … --yes`)) return 1;
      }
      return report(context, done, await act(app, ids, input, context));
    },
  };
}

/** Ids or filters, and one of them; a flag of the command's own that is named like a filter is none. */
export function selectionOf(name: string, own: Record<string, Flag>, input: Input): Selection {
  const filters = Object.keys(FILTER_FLAGS).filter((flag) => input.has(flag) && !(flag in own));
  if (input.args.length > 0 && filters.length > 0) {
    throw new QueueError(
      'usage',
      `give ids or filters, not both ids and --${filters[0]}`,
      `queuectl help ${name}`,
    );
  }
  if (input.args.length === 0 && filters.length === 0) {
    throw new QueueError('usage', `${name} needs ids or a filter`, `queuectl help ${name}`);
  }
  return input.args.length > 0 ? { names: input.args } : { filter: readFilter(input, Date.now()) };
}

/** Asks a person; a script has to say yes beforehand. */
export function confirmed({ io, environment }: Context, question: string, hint: string): boolean {
  if (!isTerminal(0) || !isTerminal(2) || environment.CI || environment.QUEUECTL_NO_INPUT) {
    throw new QueueError('needs-yes', `${question.replace(/\?$/, '')}: this needs a yes`, hint);
  }
  io.err(`${question} [y/N] `);
  const answer = Buffer.alloc(16);
  return /^y(es)?$/i.test(answer.toString('utf8', 0, readSync(0, answer)).trim());
}

/** Says what changed and what did not. 0: all of it, 4: nothing could be, 7: a part. */
function report({ io }: Context, done: string, acted: Acted): number {
  const { changed, unchanged, why } = acted;
  if (io.json) io.out(`${JSON.stringify({ [done.replaceAll(' ', '_')]: changed, unchanged })}\n`);
  else if (!io.tty || io.quiet) io.out(changed.map((id) => `${id}\n`).join(''));
  else io.out(`${done} ${changed.length} ${changed.length === 1 ? 'job' : 'jobs'}${left(acted)}\n`);
  if (unchanged.length === 0) return 0;
  if (changed.length > 0) {
    if (!io.tty) io.warn(`${unchanged.length} ${why}`);
    return 7;
  }
  const which = unchanged.length === 1 ? `job '${unchanged[0]}'` : `${unchanged.length} jobs`;
  throw new QueueError(
    'wrong-state',
    `nothing was ${done}: ${which} ${why}`,
    `queuectl show ${unchanged[0]}`,
  );
}

function left({ unchanged, why }: Acted): string {
  return unchanged.length === 0 ? '' : `, ${unchanged.length} ${why}`;
}
