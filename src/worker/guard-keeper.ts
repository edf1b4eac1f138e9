import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import {
  FRESH_LOOK_MS,
  guardLine,
  holdGuardLine,
  noteLook,
  openGuardEnd,
  releaseGuardLine,
  sinceLook,
} from '../exec/guard-line.ts';
import { startSelf } from '../exec/self.ts';
import { CRASH_AT_VARIABLE } from '../exec/variables.ts';
import type { StateDirectory } from '../state/state-directory.ts';

/** The delays before a guard that has died is replaced double, from the first to the longest. */
const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 5000;
/** A guard that ran for longer than this is replaced after the first delay. */
const STEADY_RUN_MS = 10_000;
/** A guard is replaced if it has not looked at the lease in this many checks in a row. A busy machine delays the checks as well. */
const MOST_SILENT_CHECKS = 4;

export interface KeptGuard {
  /** The arguments of the command that runs a guard, without the names of the state directory and the pipe. */
  guardArguments: string[];
  /** The id of the supervisor. */
  id: string;
  log(line: string): void;
}

/** Starts the guard of a supervisor, and replaces it if it dies. Returns a function that ends this. The guard then ends by itself. */
export async function keepGuard(state: StateDirectory, kept: KeptGuard): Promise<() => void> {
  const line = guardLine(state, kept.id);
  let ownEnd: number | null = null;
  let isStopped = false;
  let delayMs = FIRST_DELAY_MS;
  const start = async (): Promise<void> => {
    const guardEnd = await openGuardEnd(state, line);
    try {
      // The pipe may be a new one, because somebody has removed the old one.
      releaseGuardLine(ownEnd);
      ownEnd = holdGuardLine(line);
      // Workers rely on a guard that is starting, too. Other guards do so only after its own first look, because it may never run.
      noteLook(line, true);
      const startedAt = performance.now();
      const child = startSelf([...kept.guardArguments, '--state', state.path, '--line', line], {
        stdio: [guardEnd, 'ignore', 'inherit'],
        // In a session of its own, the guard gets no signal of a terminal or of a process group.
        detached: true,
        variables: { [CRASH_AT_VARIABLE]: '' },
      });
      child.unref();
      const unwatch = watchGuard(line, child, kept.log);
      let hasEnded = false;
      const onEnd = (how: string): void => {
        unwatch();
        if (isStopped || hasEnded) return;
        hasEnded = true;
        if (performance.now() - startedAt > STEADY_RUN_MS) delayMs = FIRST_DELAY_MS;
        kept.log(`the guard exited (${how}); starting another, and no job until then`);
        setTimeout(restart, delayMs).unref();
        delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 2);
      };
      child.once('exit', (code, signal) => onEnd(signal ?? `exit code ${code}`));
      child.once('error', (error) => onEnd(error.message));
    } finally {
      closeSync(guardEnd);
    }
  };
  const restart = (): void => {
    if (isStopped) return;
    start().catch((error: Error) => {
      kept.log(`cannot start the guard: ${error.message}`);
      setTimeout(restart, LONGEST_DELAY_MS).unref();
    });
  };
  try {
    await start();
  } catch (error) {
    const hint = 'workers of a queue in PostgreSQL need one. Check the directory in QUEUECTL_HOME';
    throw new QueueError('worker-failed', `cannot start the guard: ${(error as Error).message}`, hint);
  }
  return () => {
    isStopped = true;
    releaseGuardLine(ownEnd);
    ownEnd = null;
  };
}

/** Kills a guard that no longer looks at the lease, because it is suspended or hangs. Returns a function that ends this. */
function watchGuard(line: string, guard: ChildProcess, log: (line: string) => void): () => void {
  let silentChecks = 0;
  const timer = setInterval(() => {
    silentChecks = sinceLook(line) < FRESH_LOOK_MS ? 0 : silentChecks + 1;
    if (silentChecks !== MOST_SILENT_CHECKS) return;
    log('the guard does not respond; killing it');
    guard.kill('SIGKILL');
  }, FRESH_LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
