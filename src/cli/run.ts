import { actorOf } from '../actions/actor.ts';
import type { OpenedApp, OpenOptions } from '../actions/app.ts';
import { ERRORS, errorObject, NO_ANSWER_CODE, QueueError, WAIT_TIMEOUT_CODE } from '../core/errors.ts';
import { didYouMean, nearest } from '../core/nearest.ts';
import { CRASH_AT } from '../exec/environment.ts';
import { checkDirectoryName } from '../exec/working-directory.ts';
import { storeLocation } from '../store/location.ts';
import type { Command, Context, Input } from './command.ts';
import { COMMANDS, COMPLETE, isGroup, WORKER_PROCESS } from './commands.ts';
import type { Block } from './help-page.ts';
import { BrokenPipe, createIo, type Io } from './io.ts';
import { hasLayoutFlags, type Layout } from './layout.ts';
import { parseInput } from './parse.ts';
import { printable, printableJson } from './text.ts';

/** Exit code of a program that SIGPIPE ended. The exit code of the job is not known yet. */
const BROKEN_PIPE_CODE = 141;

/** Runs a command: finds it, parses its flags, opens the store on demand and prints errors. Returns the exit code. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let io = createIo({
    json: args.some((arg) => /^--json(=|$)/.test(arg)),
    quiet: false,
    color: 'auto',
    environment,
  });
  let app: OpenedApp | null = null;
  let answersForJob = false;
  try {
    const point = environment[CRASH_AT];
    if (point) (await import('./crash.ts')).crashAt(point);
    if (args[0] === COMPLETE) {
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
      const { showHelp } = await import('./show-help.ts');
      io = createIo({ json: false, quiet: false, color: colorOf(args), environment });
      await showHelp(io, found, environment, !args.includes('--no-pager'));
      return 0;
    }
    answersForJob = found.command.answersForJob?.(ownArguments(found.args)) ?? false;
    const input = parseInput(found.command, found.args);
    const color = readColor(input);
    io = createIo({ json: input.has('json'), quiet: input.has('quiet'), color, environment });
    if (await printsHelpOrVersion(io, found.command, input, environment)) return 0;
    if (hasLayoutFlags(input)) {
      const layout = await layoutOf(found.command, input);
      if (typeof layout === 'string') {
        io.out(layout);
        return 0;
      }
      const json = io.json || layout.format === 'json' || layout.format === 'jsonl';
      io = createIo({ json, quiet: io.quiet, color, environment, layout });
    }
    if (input.one('db') === '')
      throw new QueueError('usage', '--db must not be empty', 'use --db with the path of a file');
    const context: Context = {
      io,
      environment,
      anyOwner: environment.QUEUECTL_ANY_OWNER === '1',
      get location() {
        return storeLocation(input.one('db'), environment);
      },
      get cwd() {
        return workingDirectory();
      },
      async app(how: { create: boolean; actor?: string } = { create: true }) {
        app ??= await open(io, context.location, how.actor ?? actorOf(environment), {
          access: input.has('dry-run') ? 'read' : (found.command.access ?? 'read'),
          create: how.create,
          anyOwner: context.anyOwner,
        });
        return app;
      },
    };
    return (await found.command.run(context, input)) ?? 0;
  } catch (error) {
    if (error instanceof BrokenPipe) return answersForJob ? BROKEN_PIPE_CODE : 0;
    const known = report(error, io, environment);
    if (!answersForJob) return ERRORS[known.code].exit;
    return known.code === 'timeout' ? WAIT_TIMEOUT_CODE : NO_ANSWER_CODE;
  } finally {
    if (app !== null) await (await import('../actions/app.ts')).closeApp(app);
  }
}

/** Prints the help or the version if a flag asks for it, and tells whether one did. */
async function printsHelpOrVersion(
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

/** Reads the layout flags. For `--json=help`, returns the list of fields instead. */
async function layoutOf(command: Command, input: Input): Promise<Layout | string> {
  const { fieldsOf, readLayout } = await import('./read-layout.ts');
  if (input.all('json').includes('help')) return `${fieldsOf(command).join('\n')}\n`;
  return readLayout(command, input);
}

async function open(io: Io, location: string, actor: string, options: OpenOptions): Promise<OpenedApp> {
  const { openApp, withoutRepeats } = await import('../actions/app.ts');
  const app = { ...(await openApp(location, actor, options)), warn: withoutRepeats(io.warn) };
  if (app.created) io.note(`created ${location}`);
  if (app.created && app.warning !== null) io.warn(app.warning);
  return app;
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

/** Finds a command and its arguments. Returns a help page or a text to print instead if one was asked for. */
async function findCommand(args: string[]): Promise<{ command: Command; args: string[] } | Block[] | string> {
  const at = commandIndex(args);
  if (at === -1) {
    if (args.includes('--version') || args.includes('-V')) {
      const { VERSION } = await import('../core/version.ts');
      return args.includes('--json') ? `${JSON.stringify({ version: VERSION })}\n` : `${VERSION}\n`;
    }
    const { SHORT_HELP, fullHelp } = await import('./help.ts');
    if (args.includes('--help') || args.includes('-h')) return fullHelp();
    const stray = args.find((arg) => arg.startsWith('-') && !isGlobal(arg));
    if (stray !== undefined) throw new QueueError('unknown-flag', `unknown flag '${stray}'`, HELP);
    return SHORT_HELP;
  }
  const name = args[at]!;
  const rest = [...args.slice(0, at), ...args.slice(at + 1)];
  if (name === 'help') return helpFor(rest);
  if (name === WORKER_PROCESS)
    return { command: (await import('./commands/worker-process.ts')).default, args: rest };
  const entry = COMMANDS[name];
  if (entry === undefined) {
    const { topicNamed } = await import('./topics.ts');
    const topic = topicNamed(name);
    throw unknown(
      name,
      Object.keys(COMMANDS),
      topic === null ? HELP : `to read about this topic: queuectl help ${topic}`,
    );
  }
  if (!isGroup(entry)) return { command: (await entry()).default, args: rest };
  const next = commandIndex(rest);
  if (next === -1) return (await import('./help.ts')).groupHelp(name, entry);
  const load = entry.commands[rest[next]!];
  if (load === undefined)
    throw unknown(
      `${name} ${rest[next]}`,
      Object.keys(entry.commands).map((verb) => `${name} ${verb}`),
      `to list the commands: queuectl ${name}`,
    );
  return { command: (await load()).default, args: [...rest.slice(0, next), ...rest.slice(next + 1)] };
}

/** Returns the arguments before `--`. Those after it belong to a job. */
function ownArguments(args: string[]): string[] {
  const end = args.indexOf('--');
  return end === -1 ? args : args.slice(0, end);
}

/** Returns the index of the first argument that is neither a flag nor the value of a global flag. */
function commandIndex(args: string[]): number {
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--') return -1;
    if (args[i] === '--db' || args[i] === '--color') i++;
    else if (!args[i]!.startsWith('-')) return i;
  }
  return -1;
}

function isGlobal(arg: string): boolean {
  return /^(--(json|quiet|db|color|no-pager)(=.*)?|-q)$/.test(arg);
}

/** Reads --color before the arguments are parsed, because a help page has no command that could parse them. */
function colorOf(args: string[]): 'auto' | 'always' | 'never' {
  const at = args.indexOf('--color');
  const text = at === -1 ? args.find((arg) => arg.startsWith('--color='))?.slice(8) : args[at + 1];
  return text === 'always' || text === 'never' ? text : 'auto';
}

function readColor(input: Input): 'auto' | 'always' | 'never' {
  const color = input.one('color') ?? 'auto';
  if (color === 'auto' || color === 'always' || color === 'never') return color;
  throw new QueueError('invalid-value', `--color must be auto, always or never, not '${color}'`);
}

const HELP = 'to list all commands and topics: queuectl help';

async function helpFor(words: string[]): Promise<Block[]> {
  const help = await import('./help.ts');
  const { TOPICS, topicNamed } = await import('./topics.ts');
  const names = words.filter(
    (word, i) => !word.startsWith('-') && !/^--(db|color)$/.test(words[i - 1] ?? ''),
  );
  if (names.length === 0) return help.fullHelp();
  const topic = names.length === 1 ? TOPICS[names[0]!] : undefined;
  if (topic !== undefined && COMMANDS[names[0]!] === undefined) return topic.page();
  if (COMMANDS[names[0]!] === undefined && names[0] !== 'help')
    throw unknownTopic(names[0]!, topicNamed(names[0]!));
  const found = await findCommand(names);
  if (typeof found === 'string') return [found];
  const extra = Array.isArray(found) ? undefined : found.args[0];
  if (extra !== undefined) throw new QueueError('usage', `help: unexpected argument '${extra}'`, HELP);
  const page = Array.isArray(found) ? found : help.commandHelp(found.command);
  return topic === undefined ? page : [...page, ...topic.page()];
}

function unknownTopic(name: string, topic: string | null): QueueError {
  const guess = topic ?? nearest(name, Object.keys(COMMANDS));
  const meant = guess === null ? '' : `; did you mean '${guess}'?`;
  return new QueueError('unknown-command', `unknown command or topic '${name}'${meant}`, HELP);
}

function unknown(name: string, known: string[], hint: string): QueueError {
  return new QueueError('unknown-command', `unknown command '${name}'${didYouMean(name, known)}`, hint);
}

function report(error: unknown, io: Io, environment: NodeJS.ProcessEnv): QueueError {
  const known =
    error instanceof QueueError
      ? error
      : new QueueError('internal', `internal error: ${(error as Error)?.message ?? error}`, undefined, {
          cause: error,
        });
  if (io.json) io.err(`${printableJson(JSON.stringify(errorObject(known)))}\n`);
  else
    io.err(
      `error: ${printable(known.message)}\n${known.hint === null ? '' : `  ${printable(known.hint)}\n`}`,
    );
  if (environment.QUEUECTL_DEBUG === '1') io.err(`${(error as Error)?.stack ?? error}\n`);
  return known;
}
