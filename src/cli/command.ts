import type { Access, App, IfMissing } from '../actions/app.ts';
import type { Block } from './help-page.ts';
import type { Io } from './io.ts';

export interface Flag {
  /** The placeholder of the value in the help. A flag without a placeholder is a switch. */
  value?: string;
  short?: string;
  /** The value of the flag if it is given without one. Such a flag takes its value only after `=`. */
  bareValue?: string;
  /** The possible values. If somebody uses one of them as a flag, the error names this flag. */
  values?: readonly string[];
  /** Keeps the flag out of the help, because only queuectl itself uses it. */
  hidden?: boolean;
  help: string;
  /** The heading under which the help lists the flag. */
  group?: string;
  /** True if the flag can be repeated. */
  many?: boolean;
  /** Other names of the flag, besides those in aliases.ts. */
  aliases?(): string[];
}

export function inGroup(group: string, flags: Record<string, Flag>): Record<string, Flag> {
  const grouped: Record<string, Flag> = {};
  for (const name in flags) grouped[name] = { ...flags[name]!, group };
  return grouped;
}

/** Everything that a command works with. The store opens on first use, so that help and version touch no file. */
export interface Context {
  io: Io;
  cwd: string;
  environment: NodeJS.ProcessEnv;
  location: string;
  /** Returns the location for messages, without a password. */
  storeName(): Promise<string>;
  /** True if the store may be one that another user owns or can write to. */
  anyOwner: boolean;
  /** How long to wait for the server of the store. Undefined means the default. */
  storeTimeoutMs: number | undefined;
  /**
   * Opens the store at the first call. Later calls ignore the options. `actor` replaces the user as author of changes. `isBrief` is true
   * for a command that closes the store within moments.
   */
  app(options?: {
    ifMissing?: IfMissing;
    actor?: string;
    callTimeoutMs?: number;
    isBrief?: boolean;
  }): Promise<App>;
}

export interface Input {
  args: string[];
  /** The arguments after `--`, or null without `--`. */
  rest: string[] | null;
  has(flag: string): boolean;
  /** True if no flag is given at all. */
  readonly hasNoFlags: boolean;
  /** Returns the last value of a flag, or undefined if there is none. */
  one(flag: string): string | undefined;
  /** Returns all values of a flag, in the order in which they were given. */
  all(flag: string): string[];
  /** Returns the argument at this position. If it is missing or empty, throws an error that names it, with a hint. */
  required(at: number, what: string, hint: string): string;
}

export interface Command {
  name: string;
  summary: string;
  /** The arguments, as the help shows them. */
  args: string;
  /** The flags. Throws if `loadFlags` has to be called first. */
  flags: Record<string, Flag>;
  /** Loads the flags. Exists only if they are in a module that the command does not need without flags. */
  loadFlags?(): Promise<void>;
  /** Command lines. A line that starts with # is a caption for the lines below it. */
  examples: string[];
  /** Paragraphs and tables at the end of the help. */
  notes?: Block[];
  maxArguments: number;
  /** True if the command takes arguments after `--`. */
  takesRest?: boolean;
  /** The object that --json prints. Set only if single fields of it can be selected. */
  prints?: {
    /** The name of a schema of the HTTP API. */
    object?: string;
    /** Fields that the schema does not have. */
    fields?: string[];
  };
  /** How the command opens the store. The default is `read`. */
  access?: Exclude<Access, 'read'>;
  /** True if the command creates a missing database. Other commands treat it as an empty queue or as an error. */
  creates?: boolean;
  /**
   * Returns a hint for arguments or flags that the command does not take, such as the command that was probably meant. `words`
   * are the arguments, or start with an unknown flag. `flags` are the flags before them, with their values.
   */
  usageHint?(words: string[], flags: string[]): string | undefined;
  /** Tells whether the command returns a job's exit code for these arguments. Its own errors then exit with 124 or 125. */
  returnsJobExitCode?(args: string[]): boolean;
  /** Returns the exit code. Undefined means 0. */
  run(context: Context, input: Input): Promise<number | undefined>;
}

/** Loads the module of a command. */
export type LoadCommand = () => Promise<{ default: Command }>;

/** Loads a command and its flags. */
export async function loadCommand(load: LoadCommand): Promise<Command> {
  const { default: command } = await load();
  await command.loadFlags?.();
  return command;
}

type OptionalField = 'args' | 'flags' | 'maxArguments';
type Definition = Omit<Command, OptionalField | 'loadFlags'> &
  Partial<Omit<Pick<Command, OptionalField>, 'flags'>> & {
    /** The flags, or a function that loads them. */
    flags?: Record<string, Flag> | (() => Promise<Record<string, Flag>>);
  };

/** Completes the definition of a command. Derives from `args` how many arguments it takes, and whether some follow `--`. */
export function defineCommand({ flags = {}, ...definition }: Definition): Command {
  const { args = '' } = definition;
  const shape = { args, maxArguments: countArguments(args), takesRest: args.includes('-- ') };
  if (typeof flags !== 'function') return { flags, ...shape, ...definition };
  let loaded: Record<string, Flag> | null = null;
  return {
    get flags() {
      if (loaded === null) throw new Error(`the flags of ${definition.name} are not loaded`);
      return loaded;
    },
    async loadFlags() {
      loaded ??= await flags();
    },
    ...shape,
    ...definition,
  };
}

/** Counts the arguments of the first alternative: `NAME (COMMAND | -- PROGRAM ARG…)` has two, and `[ID…]` has no limit. */
function countArguments(args: string): number {
  const [form = ''] = args.split(' | ');
  return form.includes('…') ? Number.POSITIVE_INFINITY : form.split(' ').filter(Boolean).length;
}

export const GLOBAL_FLAGS: Record<string, Flag> = {
  db: {
    value: 'PATH',
    help: 'database file or PostgreSQL URL (default: $QUEUECTL_DB or ~/.queuectl/queue.db)',
  },
  json: {
    value: 'FIELD,…',
    bareValue: '',
    many: true,
    help: 'print JSON, optionally with only these fields (--json=help lists all fields)',
  },
  quiet: { short: 'q', help: 'suppress notes and warnings; print only ids in lists and after enqueue' },
  'store-timeout': {
    value: 'DURATION',
    help: 'time to wait for a database server (default: $QUEUECTL_STORE_TIMEOUT or 30s)',
  },
  color: { value: 'WHEN', help: 'when to use colors: auto, always or never (default: auto)' },
  'no-pager': { help: 'do not show help in a pager' },
  help: { short: 'h', help: 'show help' },
  version: { short: 'V', help: 'show the version' },
};
