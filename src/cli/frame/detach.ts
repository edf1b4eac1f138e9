import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../actions/app.ts';
import { activeSupervisors, countWorkersOf } from '../../actions/workers/workers.ts';
import { QueueError } from '../../core/errors.ts';
import { countOf } from '../../core/text/words.ts';
import { pause } from '../../core/time/clock.ts';
import { processes } from '../../exec/processes.ts';
import { STORE_VARIABLE } from '../../exec/program.ts';
import { startSelf } from '../../exec/self.ts';
import type { StateDirectory } from '../../state/state-directory.ts';
import { printJson } from '../print/layout.ts';
import type { Context, Input } from './command.ts';

const POLL_MS = 20;
const SHOWN_LOG_LINES = 10;

interface DetachOptions {
  /** The arguments and additional variables of the background process. */
  args: string[];
  variables: NodeJS.ProcessEnv;
  /** The id of the supervisor. */
  id: string;
  count: number;
  /** True if the workers stop when no work is left. */
  drain: boolean;
}

/** Runs this command in a new session. Returns 0 when its workers are ready, or have ended with --drain. Throws if they fail. */
export async function detach(context: Context, app: App, options: DetachOptions): Promise<number> {
  const { args, variables, id, count, drain } = options;
  const { io } = context;
  const path = logPath(app.stateDirectory, id);
  const activeIds = (await activeSupervisors(app)).map((one) => one.id);
  const log = createLog(app.stateDirectory, id, activeIds);
  // The background process could only read the limit of open files that the runtime has raised.
  const limit = processes.inheritedOpenFileLimit();
  const limitFlag = limit === null ? [] : ['--open-files', limit];
  const child = startSelf([...args, '--supervisor', id, ...limitFlag], {
    stdio: ['ignore', log, log],
    detached: true,
    variables,
  });
  closeSync(log);
  /** Null while the background process runs, 'ok' after exit code 0, else why it ended. */
  let exitResult: string | null = null;
  child.once('exit', (code, signal) => {
    exitResult = code === 0 ? 'ok' : (signal ?? `exit code ${code}`);
  });
  child.once('error', (error) => {
    exitResult = error.message;
  });
  child.unref();
  while ((await countWorkersOf(app, id)) < count) {
    // With --drain, the workers may have nothing to do and exit before they are counted.
    if (exitResult === 'ok' && drain) break;
    if (exitResult !== null) {
      if (exitResult !== 'ok') {
        const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
        io.err(`${lines.slice(-SHOWN_LOG_LINES).join('\n')}\n`);
      }
      const end =
        exitResult === 'ok' ? 'were stopped during startup' : `exited during startup (${exitResult})`;
      throw new QueueError('worker-failed', `the workers ${end}`, `for details, see the log file ${path}`);
    }
    await pause(POLL_MS);
  }
  if (io.json) printJson(io, { supervisor: id, pid: child.pid, workers: count, log: path });
  else io.out(`started ${countOf(count, 'worker')} in the background, pid ${child.pid}\n`);
  io.note(`log file: ${path}. To stop the workers: queuectl worker stop`);
  return 0;
}

/**
 * Returns the arguments of this command for another process, and the variables that it needs. Every user of the machine can
 * see the arguments of a process, so a database URL, which may have a password, becomes a variable.
 */
export function argumentsWithoutUrl(context: Context, input: Input) {
  const args = process.argv.slice(2);
  const given = input.one('db');
  if (given === undefined || !given.includes('://')) return { args, variables: {} };
  const isFlagOf = (arg: string, next: string | undefined): boolean => arg.startsWith('--') && next === given;
  // The flag is found by its value, because it has several names.
  const kept = args.filter(
    (arg, i) =>
      !isFlagOf(arg, args[i + 1]) &&
      !isFlagOf(args[i - 1] ?? '', arg) &&
      !(arg.startsWith('--') && arg.endsWith(`=${given}`)),
  );
  return { args: kept, variables: { [STORE_VARIABLE]: context.location } };
}

/** A log with more bytes than this is copied to `<log>.1` and emptied. */
const MAX_LOG_BYTES = 10 * 1024 * 1024;
const CHECK_MS = 5000;
/** The number of logs of ended supervisors that are kept, newest first. */
const KEPT_LOGS = 10;
const LOG_NAME = /^worker-([0-9a-f]{12})\.log$/;

export function logPath({ logs }: StateDirectory, supervisor: string): string {
  return join(logs, `worker-${supervisor}.log`);
}

/** Creates and opens the log of detached workers. Removes the oldest logs of supervisors that are not in `active`. */
function createLog(state: StateDirectory, supervisor: string, active: string[]): number {
  mkdirSync(state.logs, { recursive: true, mode: 0o700 });
  removeOldLogs(state.logs, active);
  return openSync(logPath(state, supervisor), 'ax', 0o600);
}

function removeOldLogs(directory: string, active: string[]): void {
  const ended = readdirSync(directory).flatMap((name) => {
    const supervisor = LOG_NAME.exec(name)?.[1];
    if (supervisor === undefined || active.includes(supervisor)) return [];
    const path = join(directory, name);
    return [{ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }];
  });
  for (const { path } of ended.sort((a, b) => b.at - a.at).slice(KEPT_LOGS)) {
    for (const file of [path, `${path}.1`]) rmSync(file, { force: true });
  }
}

/** Checks the size of a log regularly while this program runs, and rotates it if it is too long. */
export function keepLogShort(file: string): void {
  const check = (): void => {
    try {
      if (statSync(file).size > MAX_LOG_BYTES) rotate(file);
    } catch {
      // The disk may be full, but then the log does not grow either. The next check tries again.
    }
  };
  setInterval(check, CHECK_MS).unref();
}

/**
 * Copies the log and empties it. A rename would not work, because the supervisor and its workers share one open file.
 * They append, so they continue at its new end. A line written between the copy and the emptying is lost.
 */
function rotate(file: string): void {
  const draft = `${file}.new`;
  try {
    copyFileSync(file, draft);
    renameSync(draft, `${file}.1`);
    truncateSync(file);
  } finally {
    rmSync(draft, { force: true });
  }
}
