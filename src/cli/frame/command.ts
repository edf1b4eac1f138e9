import type { App } from '../../actions/app.ts';
import type { Access, IfMissing } from '../../store/open.ts';
import type { Block } from '../help/help-page.ts';
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
   * for a command that closes the store within moments, and `lasts` for a process that may write for days.
   */
  app(options?: {
    ifMissing?: IfMissing;
    actor?: string;
    callTimeoutMs?: number;
    isBrief?: boolean;
    lasts?: boolean;
  }): Promise<App>;
}

export interface Input {
  args: string[];
  /** The arguments after `--`, or null without `--`. */
  rest: string[] | null;
  has(flag: string): boolean;
  readonly hasNoFlags: boolean;
  /** Returns the last value of a flag, or undefined if there is none. */
  one(flag: string): string | undefined;
  /** Returns all values of a flag, in the order in which they were given. */
  all(flag: string): string[];
  /** Returns the argument at this position. If it is missing or empty, throws an error that names it, with a hint. */
  required(at: number, what: string, hint: string): string;
}

/** The parts of a command that only its flags and its help need. */
export interface CommandDetails {
  flags: Record<string, Flag>;
  /** Command lines. A line that starts with # is a caption for the lines below it. */
  examples: string[];
  /** Paragraphs and tables at the end of the help. */
  notes?: Block[];
}

/** A command. If it has `loadDetails`, this must be called before the details are used. */
export interface Command extends CommandDetails {
  name: string;
  summary: string;
  /** The arguments, as the help shows them. */
  args: string;
  maxArguments: number;
  loadDetails?(): Promise<void>;
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

export type LoadCommand = () => Promise<{ default: Command }>;

export async function loadCommand(load: LoadCommand): Promise<Command> {
  const { default: command } = await load();
  await command.loadDetails?.();
  return command;
}

type OptionalField = 'args' | 'maxArguments';
type Definition = Omit<Command, OptionalField | 'loadDetails' | keyof CommandDetails> &
  Partial<Pick<Command, OptionalField>> &
  (
    | (Omit<CommandDetails, 'flags'> & Partial<Pick<CommandDetails, 'flags'>> & { details?: never })
    /** Loads the details, so that the command need not load them without flags. */
    | { details(): Promise<CommandDetails> }
  );

/** Completes the definition of a command. Derives from `args` how many arguments it takes, and whether some follow `--`. */
export function defineCommand(definition: Definition): Command {
  const { args = '', details } = definition;
  const { maxArguments = countArguments(args), takesRest = args.includes('-- ') } = definition;
  const command: object = { flags: {}, ...definition, args, maxArguments, takesRest };
  const loadDetails = async (): Promise<void> => void Object.assign(command, await details!());
  return (details === undefined ? command : Object.assign(command, { loadDetails })) as Command;
}

/** Counts the arguments of the first alternative: `NAME (COMMAND | -- PROGRAM ARG…)` has two, and `[ID…]` has no limit. */
function countArguments(args: string): number {
  const [form = ''] = args.split(' | ');
  if (form.includes('…')) return Number.POSITIVE_INFINITY;
  let count = 0;
  for (const word of form.split(' ')) if (word !== '') count++;
  return count;
}

/** The internal commands that completion scripts call, and with which a supervisor starts its workers and its guard. */
export const COMPLETE_COMMAND = '__complete';
export const WORKER_PROCESS = '__worker';
export const GUARD_PROCESS = '__guard';
