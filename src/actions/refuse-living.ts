import { QueueError } from '../core/errors.ts';
import { type Living, livingIn, livingOf } from '../exec/living.ts';
import { attemptName, placeOf } from '../state/place.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import type { Store } from '../store/store.ts';

/** Throws if a command runs that the store does not know, because it would be started again. `known` lists those it knows. */
export function refuseLiving(stateDirectory: StateDirectory, known: ReadonlySet<string> = new Set()): void {
  // The state directory is asked, because the store may be gone or unreadable.
  const living = livingIn(stateDirectory, known);
  if (living === null) return;
  const { process } = living;
  throw refusal(
    'a command from this queue',
    living,
    process === null
      ? 'wait for it to finish, or stop it in that pid namespace'
      : `wait for it to finish, or stop it with kill -- -${process.group}`,
  );
}

/** Throws if a job that is running as far as the store knows still has a living process. */
export async function refuseLivingJobs(store: Store, stateDirectory: StateDirectory): Promise<void> {
  for (const job of await store.running()) {
    const living = livingOf(placeOf(stateDirectory, store.epoch, job.claim.attempt));
    if (living === null) continue;
    const where = living.process === null ? ' (in that pid namespace)' : '';
    throw refusal(`job '${job.id}'`, living, `to let it finish: queuectl worker start --drain${where}`);
  }
}

/** Returns the names of the attempts that are running as far as the store knows. */
export async function namesOfRunning(store: Store): Promise<Set<string>> {
  const running = await store.running();
  return new Set(running.map(({ claim }) => attemptName(store.epoch, claim.attempt)));
}

function refusal(what: string, { process }: Living, fix: string): QueueError {
  const how =
    process === null
      ? 'may still be running in another pid namespace'
      : `is still running as process ${process.pid}`;
  return new QueueError('wrong-state', `${what} ${how}`, fix);
}
