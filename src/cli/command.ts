import type { Access, App, IfMissing } from '../actions/app.ts';
import type { Block } from './help-page.ts';
import type { Io } from './io.ts';

export interface Flag {
  /** The placeholder of the value in the help. A flag without one is a switch. */
  value?: string;
  short?: string;
  /** The value if the flag is given without one. Any other value then needs a `=`. */
  bare?: string;
  /** Keeps the flag out of the help, because only queuectl itself uses it. */
  hidden?: boolean;
  help: string;
  /** The heading under which the help lists the flag. */
  group?: string;
  /** True if the flag can be repeated. */
  many?: boolean;
  /** Other names of the flag, besides those in aliases.ts. */
  aliases?: string[];
}

export function inGroup(group: string, flags: Record<string, Flag>): Record<string, Flag> {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, group }]));
}

/** Everything that a command works with. The store opens on first use, so that help and version touch no file. */
export interface Context {
  io: Io;
  cwd: string;
  environment: NodeJS.ProcessEnv;
  location: string;
  /** Allows a store that another user owns or can write to. */
  anyOwner: boolean;
  /** Opens the store. `actor` is recorded as the author of changes, instead of the user. */
  app(options?: { ifMissing?: IfMissing; actor?: string }): Promise<App>;
}

export interface Input {
  args: string[];
  /** The arguments after `--`, or null if there was none. */
  rest: string[] | null;
  has(flag: string): boolean;
  one(flag: string): string | undefined;
  all(flag: string): string[];
  /** Returns the argument at this position, or throws if it is missing. */
  required(at: number, what: string, example: string): string;
}

export interface Printed {
  /** The name of a schema of the HTTP API. */
  object?: string;
  /** Fields that the schema does not have. */
  fields?: string[];
}

export interface Command {
  name: string;
  summary: string;
  /** The arguments, as the help shows them. */
  args: string;
  flags: Record<string, Flag>;
  /** Command lines. One that starts with # is a caption for those below it. */
  examples: string[];
  /** Paragraphs and tables at the end of the help. */
  notes?: Block[];
  /** The maximum number of arguments. */
  most: number;
  /** True if the command takes arguments after `--`. */
  rest?: boolean;
  /** The object that --json prints, if single fields of it can be selected. */
  prints?: Printed;
  /** How the command opens the store, if not only for reading. */
  access?: Exclude<Access, 'read'>;
  /** Creates the database if there is none. Other commands then find an empty queue, and create nothing. */
  creates?: boolean;
  /** Returns the command line that was probably meant by arguments or a flag that the command does not take. */
  instead?(words: string[]): string | undefined;
  /** Tells whether the command returns a job's exit code for these arguments. Its own errors then have other codes. */
  answersForJob?(args: string[]): boolean;
  /** Returns the exit code. Undefined means 0. */
  run(context: Context, input: Input): Promise<number | undefined>;
}

type Optional = 'args' | 'flags' | 'most';

/** Completes the definition of a command. Its arguments, as the help shows them, determine how many it takes. */
export function defineCommand(
  definition: Omit<Command, Optional> & Partial<Pick<Command, Optional>>,
): Command {
  const { args = '' } = definition;
  return { args, flags: {}, most: countArguments(args), rest: args.includes('-- '), ...definition };
}

/** Counts the arguments of the first form: `NAME (COMMAND | -- PROGRAM ARG…)` has two, and `[ID…]` has no limit. */
function countArguments(args: string): number {
  const [form = ''] = args.split(' | ');
  return form.includes('…') ? Number.POSITIVE_INFINITY : form.split(' ').filter(Boolean).length;
}

export const GLOBAL_FLAGS: Record<string, Flag> = {
  db: { value: 'PATH', help: 'database file (default: $QUEUECTL_DB or ~/.queuectl/queue.db)' },
  json: {
    value: 'FIELD,…',
    bare: '',
    many: true,
    help: 'print JSON, optionally with only these fields (--json=help lists all fields)',
  },
  quiet: { short: 'q', help: 'suppress notes and warnings; print only ids in lists and after enqueue' },
  color: { value: 'WHEN', help: 'when to use colors: auto, always or never (default: auto)' },
  'no-pager': { help: 'do not show help in a pager' },
  help: { short: 'h', help: 'show help' },
  version: { short: 'V', help: 'show the version' },
};
