import { actorOf } from '../actions/actor.ts';
import { closeApp, type OpenedApp, openApp, withoutRepeats } from '../actions/app.ts';
import {
  errorTable,
  invalidValue,
  NO_RESULT_CODE,
  QueueError,
  usageError,
  WAIT_TIMEOUT_CODE,
} from '../core/errors.ts';
import { CRASH_AT_VARIABLE, STORE_VARIABLE } from '../exec/variables.ts';
import { checkDirectoryName } from '../exec/working-directory.ts';
import { refuseMissingDirectory, storeLocation } from '../store/location.ts';
import type { Command, Context, Input } from './command.ts';
import { type FoundCommand, findCommand, findPlainEnqueue, ownArguments } from './find-command.ts';
import { COMPLETE_COMMAND } from './internal-commands.ts';
import { BROKEN_PIPE_CODE, BrokenPipe, createIo, type Io } from './io.ts';
import type { Layout } from './layout.ts';
import { hasFlags, parseWords } from './parse.ts';
import { printError } from './print-error.ts';

/** Runs a command: finds it, parses its flags, opens the store on demand and prints errors. Returns the exit code. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let io = createIo({ json: asksForJson(args), quiet: false, color: 'auto', environment });
  const opened: { app: OpenedApp | null } = { app: null };
  let returnsJobExitCode = false;
  try {
    const crashPoint = environment[CRASH_AT_VARIABLE];
    if (crashPoint) (await import('./crash.ts')).crashAt(crashPoint);
    if (args[0] === COMPLETE_COMMAND) {
      const { complete } = await import('./complete.ts');
      io.out(await complete(args.slice(1), environment));
      return 0;
    }
    const found = findPlainEnqueue(args) ?? (await findCommand(args));
    if (typeof found === 'string') return printed(io, found);
    if (Array.isArray(found)) {
      const { showHelp } = await import('./show-help.ts');
      io = createIo({ json: false, quiet: false, color: findColor(args), environment });
      await showHelp(io, found, environment, !args.includes('--no-pager'));
      return 0;
    }
    const commandArgs = hasFlags(found.args) ? await withCanonicalFlags(found) : found.args;
    returnsJobExitCode = found.command.returnsJobExitCode?.(ownArguments(commandArgs)) ?? false;
    // The parser of flags is loaded only if there is a flag.
    const input = hasFlags(commandArgs)
      ? (await import('./parse-flags.ts')).parseInput(found.command, commandArgs)
      : parseWords(found.command, commandArgs);
    if (!input.hasNoFlags) {
      const color = readColor(input);
      io = createIo({ json: input.has('json'), quiet: input.has('quiet'), color, environment });
      if (await printHelpOrVersion(io, found.command, input, environment)) return 0;
      const layout = await layoutOf(found.command, input);
      if (layout !== null) {
        if (typeof layout === 'string') return printed(io, layout);
        const json = io.json || layout.format === 'json' || layout.format === 'jsonl';
        io = createIo({ json, quiet: io.quiet, color, environment, layout });
      }
    }
    if (input.one('db') === '')
      throw usageError('--db must not be empty', 'use --db with the path of a file');
    const context: Context = {
      io,
      environment,
      anyOwner: environment.QUEUECTL_ANY_OWNER === '1',
      // Most commands do not need the reader, so it is loaded on demand.
      storeTimeoutMs:
        input.has('store-timeout') || environment.QUEUECTL_STORE_TIMEOUT
          ? (await import('./store-timeout.ts')).readStoreTimeout(input, environment)
          : undefined,
      get location() {
        const location = storeLocation(input.one('db') ?? environment[STORE_VARIABLE], environment);
        if (input.one('db') !== undefined) refuseMissingDirectory(location);
        return location;
      },
      storeName: () => storeName(context),
      get cwd() {
        return workingDirectory();
      },
      async app(options = {}) {
        opened.app ??= await openStore(context, found.command, input, options);
        return opened.app;
      },
    };
    const code = (await found.command.run(context, input)) ?? 0;
    if (opened.app?.missing && opened.app.warning === null)
      io.note(`there is no queue at ${await context.storeName()} yet`, 'always');
    return code;
  } catch (error) {
    if (error instanceof BrokenPipe) return returnsJobExitCode ? BROKEN_PIPE_CODE : 0;
    const known = reportError(error, io, environment);
    if (!returnsJobExitCode) return errorTable()[known.code].exit;
    return known.code === 'timeout' ? WAIT_TIMEOUT_CODE : NO_RESULT_CODE;
  } finally {
    if (opened.app !== null) await closeApp(opened.app);
  }
}

/** Prints a text that is the whole result, and returns the exit code. */
function printed(io: Io, text: string): number {
  io.out(text);
  return 0;
}

/** Finds --json in arguments that were not parsed. */
function asksForJson(args: string[]): boolean {
  for (const arg of args) {
    // The arguments after it belong to a job.
    if (arg === '--') return false;
    if (arg === '--json' || arg.startsWith('--json=')) return true;
  }
  return false;
}

/** Returns the arguments with the names of flags that the parser knows. */
async function withCanonicalFlags({ command, args }: FoundCommand): Promise<string[]> {
  return (await import('./canonical-flags.ts')).canonicalFlags(command, args);
}

/** Prints the help or the version if a flag asks for it, and tells whether one did. */
async function printHelpOrVersion(
  io: Io,
  command: Command,
  input: Input,
  environment: NodeJS.ProcessEnv,
): Promise<boolean> {
  if (input.has('help')) {
    const { commandHelp } = await import('./help.ts');
    const { showHelp } = await import('./show-help.ts');
    await showHelp(io, commandHelp(command), environment, !input.has('no-pager'));
  } else if (input.has('version')) {
    io.out(`${(await import('../core/version.ts')).VERSION}\n`);
  } else return false;
  return true;
}

/** Reads the layout flags. Returns null if there is none. For `--json=help`, returns the list of fields instead. */
async function layoutOf(command: Command, input: Input): Promise<Layout | string | null> {
  if (!(await import('./layout-flags.ts')).hasLayoutFlags(input)) return null;
  const { fieldsOf, readLayout } = await import('./read-layout.ts');
  if (input.all('json').includes('help')) return `${fieldsOf(command).join('\n')}\n`;
  return readLayout(command, input);
}

async function openStore(
  context: Context,
  command: Command,
  input: Input,
  given: NonNullable<Parameters<Context['app']>[0]>,
): Promise<OpenedApp> {
  const { io, location, environment, anyOwner, storeTimeoutMs } = context;
  // Commands that keep watching also need a store. `top --once` does not watch.
  const creates = (command.creates && !input.has('once')) || input.has('follow') || input.has('watch');
  const opened = await openApp(location, given.actor ?? actorOf(environment), {
    access: input.has('dry-run') ? 'read' : (command.access ?? 'read'),
    ifMissing: given.ifMissing ?? (creates ? 'create' : 'empty'),
    ...{ anyOwner, storeTimeoutMs, callTimeoutMs: given.callTimeoutMs },
    partsOnDemand: command.access !== 'work',
    isBrief: given.isBrief ?? false,
  });
  const app = { ...opened, warn: withoutRepeats(io.warn) };
  if (app.created) io.note(`created ${await context.storeName()}`);
  if ((app.created || app.missing) && app.warning !== null) io.warn(app.warning);
  return app;
}

/** Most commands do not need the name, so its reader is loaded on demand. */
async function storeName({ location, environment }: Context): Promise<string> {
  return (await import('../actions/location-name.ts')).locationName(location, environment);
}

function workingDirectory(): string {
  try {
    return checkDirectoryName(process.cwd());
  } catch (error) {
    if (error instanceof QueueError) throw error;
    throw new QueueError(
      'invalid-job',
      'the current directory no longer exists',
      'change to another directory, or use --cwd DIR',
    );
  }
}

/** Finds --color in arguments that were not parsed, for help without a command. An invalid value counts as auto. */
function findColor(args: string[]): 'auto' | 'always' | 'never' {
  const at = args.indexOf('--color');
  const text = at === -1 ? args.find((arg) => arg.startsWith('--color='))?.slice(8) : args[at + 1];
  return text === 'always' || text === 'never' ? text : 'auto';
}

function readColor(input: Input): 'auto' | 'always' | 'never' {
  const color = input.one('color') ?? 'auto';
  if (color === 'auto' || color === 'always' || color === 'never') return color;
  throw invalidValue(`--color must be auto, always or never, not '${color}'`);
}

/** Prints an error and returns it. An unexpected error becomes an internal error. */
function reportError(error: unknown, io: Io, environment: NodeJS.ProcessEnv): QueueError {
  const known =
    error instanceof QueueError
      ? error
      : new QueueError('internal', `internal error: ${(error as Error)?.message ?? error}`, undefined, {
          cause: error,
        });
  printError(io, known);
  if (environment.QUEUECTL_DEBUG === '1') io.err(`${(error as Error)?.stack ?? error}\n`);
  return known;
}
