import { actorOf, closeApp, type OpenedApp, openApp, withoutRepeats } from '../../actions/app.ts';
import { ERRORS, NO_RESULT_CODE, QueueError, usageError, WAIT_TIMEOUT_CODE } from '../../core/errors.ts';
import { checkDirectoryName } from '../../exec/environment.ts';
import { CRASH_AT_VARIABLE, STORE_VARIABLE } from '../../exec/program.ts';
import { refuseMissingDirectory, storeLocation } from '../../store/location.ts';
import { COMPLETE_COMMAND, type Command, type Context, type Input } from './command.ts';
import { findCommand } from './find-command.ts';
import { BROKEN_PIPE_CODE, BrokenPipe, createIo, type Io, printError } from './io.ts';
import { checkUtf8, hasFlags, parseWords, splitAtDashes } from './parse.ts';

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
    const found = await findCommand(args);
    if (typeof found === 'string') {
      io.out(found);
      return 0;
    }
    if (Array.isArray(found)) {
      await (await import('../help/help-page.ts')).showHelp(found, args, environment);
      return 0;
    }
    const { command } = found;
    // The parser of flags is loaded only if there is a flag.
    const parser = hasFlags(found.args) ? await import('./parse-flags.ts') : null;
    const commandArgs = parser === null ? found.args : parser.canonicalFlags(command, found.args);
    returnsJobExitCode = command.returnsJobExitCode?.(splitAtDashes(commandArgs)[0]) ?? false;
    checkUtf8(commandArgs);
    const input = (parser?.parseInput ?? parseWords)(command, commandArgs);
    if (parser !== null) {
      io = parser.ioOf(input, environment);
      if (await parser.answerFlags(io, command, input, commandArgs, environment)) return 0;
      io = parser.ioOf(input, environment, await parser.layoutOf(command, input));
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
          ? (await import('./read-flags.ts')).readStoreTimeout(input, environment)
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
        opened.app ??= await openStore(context, command, input, options);
        return opened.app;
      },
    };
    const code = (await command.run(context, input)) ?? 0;
    if (opened.app?.missing && opened.app.warning === null)
      io.note(`there is no queue at ${await context.storeName()} yet`, 'always');
    return code;
  } catch (error) {
    if (error instanceof BrokenPipe) return returnsJobExitCode ? BROKEN_PIPE_CODE : 0;
    const known = reportError(error, io, environment);
    if (!returnsJobExitCode) return ERRORS[known.code].exit;
    return known.code === 'timeout' ? WAIT_TIMEOUT_CODE : NO_RESULT_CODE;
  } finally {
    if (opened.app !== null) await closeApp(opened.app);
  }
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
    partsOnDemand: command.access !== 'work' && !given.lasts,
    isBrief: given.isBrief ?? (creates || command.access === 'work' ? false : 'if-full'),
  });
  const app = { ...opened, warn: withoutRepeats(io.warn) };
  if (app.created) io.note(`created ${await context.storeName()}`);
  if ((app.created || app.missing) && app.warning !== null) io.warn(app.warning);
  return app;
}

/** Most commands do not need the name, so its reader is loaded on demand. */
async function storeName({ location, environment }: Context): Promise<string> {
  return (await import('../../actions/transfer/migrate.ts')).locationName(location, environment);
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

/** Prints an error and returns it. */
function reportError(error: unknown, io: Io, environment: NodeJS.ProcessEnv): QueueError {
  const known = error instanceof QueueError ? error : unexpectedError(error);
  printError(io, known);
  if (environment.QUEUECTL_DEBUG === '1') io.err(`${(error as Error)?.stack ?? error}\n`);
  return known;
}

/** An unexpected error becomes an internal error, unless a file could not be written on a full disk. */
function unexpectedError(error: unknown): QueueError {
  const { message, code, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === 'ENOSPC' && path !== undefined)
    return new QueueError(
      'disk-full',
      `${path} cannot be written: the disk is full (it has no free space or no free inodes)`,
      undefined,
      { cause: error },
    );
  return new QueueError('internal', `internal error: ${message ?? error}`, undefined, { cause: error });
}
