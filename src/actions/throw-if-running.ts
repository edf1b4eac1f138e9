import { QueueError } from '../core/errors.ts';
import { type RunningCommand, runningCommandIn, runningCommandOf } from '../exec/running-commands.ts';
import { attemptName, placeOf } from '../state/place.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import type { Store } from '../store/store.ts';

/**
 * Throws if a command of the queue may still be running. Called before a store is replaced, because the replacement might start
 * the command again. `known` names the attempts that the replacement lists as running, which are allowed.
 */
export function throwIfCommandsRun(state: StateDirectory, known: ReadonlySet<string> = new Set()): void {
  // The state directory is searched, because the store may be gone or unreadable.
  const command = runningCommandIn(state, known);
  if (command === null) return;
  const { process } = command;
  throw runningError(
    'a command from this queue',
    command,
    process === null
      ? 'wait for it to finish, or stop it in that pid namespace'
      : `wait for it to finish, or stop it with kill -- -${process.group}`,
  );
}

/**
 * Throws if the command of a job that the store lists as running may still be running. `queuectl` is the start of a command for this
 * store, for the hint.
 */
export async function throwIfJobsRun(
  store: Store,
  stateDirectory: StateDirectory,
  queuectl = 'queuectl',
): Promise<void> {
  for (const job of await store.runningJobs()) {
    const command = runningCommandOf(placeOf(stateDirectory, store.epoch, job.claim.attempt));
    if (command === null) continue;
    const where = command.process === null ? ' (in that pid namespace)' : '';
    throw runningError(
      `job '${job.id}'`,
      command,
      `to let it finish: ${queuectl} worker start --drain${where}`,
    );
  }
}

/** Returns the names of the attempts that the store lists as running. */
export async function runningAttemptNames(store: Store): Promise<Set<string>> {
  const running = await store.runningJobs();
  return new Set(running.map(({ claim }) => attemptName(store.epoch, claim.attempt)));
}

function runningError(what: string, { process }: RunningCommand, fix: string): QueueError {
  const status =
    process === null
      ? 'may still be running in another pid namespace'
      : `is still running as process ${process.pid}`;
  return new QueueError('wrong-state', `${what} ${status}`, fix);
}
