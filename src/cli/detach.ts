import { closeSync, readFileSync } from 'node:fs';
import type { App } from '../actions/app.ts';
import { activeSupervisors, countWorkersOf } from '../actions/workers.ts';
import { pause } from '../core/clock.ts';
import { QueueError } from '../core/errors.ts';
import { countOf } from '../core/words.ts';
import { processes } from '../exec/processes.ts';
import { startSelf } from '../exec/self.ts';
import { type ProgramStart, STARTED_VARIABLE, startText } from '../exec/stop-mark.ts';
import type { Context } from './command.ts';
import { createLog, logPath } from './worker-log.ts';

const POLL_MS = 20;
const SHOWN_LOG_LINES = 10;

export interface DetachOptions {
  /** The arguments and additional variables of the background process. */
  args: string[];
  variables: NodeJS.ProcessEnv;
  /** The id of the supervisor. */
  id: string;
  count: number;
  start: ProgramStart;
  /** True if the workers stop when no work is left. */
  drain: boolean;
}

/** Runs this command in a new session. Returns 0 when its workers are ready, or have ended with --drain. Throws if they fail. */
export async function detach(context: Context, app: App, options: DetachOptions): Promise<number> {
  const { args, id, count, start, drain } = options;
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
    variables: { ...options.variables, [STARTED_VARIABLE]: startText(start) },
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
  if (io.json) io.out(`${JSON.stringify({ supervisor: id, pid: child.pid, workers: count, log: path })}\n`);
  else io.out(`started ${countOf(count, 'worker')} in the background, pid ${child.pid}\n`);
  io.note(`log file: ${path}. To stop the workers: queuectl worker stop`);
  return 0;
}
