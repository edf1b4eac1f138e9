import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { crashPoint } from '../../core/crash-point.ts';
import { QueueError } from '../../core/errors.ts';
import { resolveSettings } from '../../core/settings/stored-settings.ts';
import { countOf } from '../../core/text/words.ts';
import {
  type RunningCommand,
  removeAttempts,
  runningCommandIn,
  runningCommandOf,
} from '../../exec/running-commands.ts';
import { copyBytes } from '../../files/write.ts';
import {
  type AttemptFiles,
  attemptFiles,
  attemptName,
  attemptsIn,
  moveOutputs,
  removeFiles,
  streamFiles,
} from '../../state/attempt-files.ts';
import { readGap, writeGap } from '../../state/output.ts';
import { type StateDirectory, stateBeside } from '../../state/state-directory.ts';
import type { CopyOptions } from '../../store/contract/file-care.ts';
import { careOf, peekStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import type { App } from '../app.ts';
import { settlementOfLost } from '../jobs/settlement.ts';
import { activeWorkers } from '../workers/workers.ts';

/** Writes a backup: an independent store with the contents of the store at one moment. Running attempts count as lost in it. */
export async function backup(app: App, location: string, file: string, options: CopyOptions) {
  const backupState = stateBeside(resolve(file));
  const result = await (await careOf(location)).copy(location, file, options, async (copy) => {
    const source = { epoch: copy.epoch, stateDirectory: app.stateDirectory };
    const jobCounts = await renewCopy(app, copy);
    return { ...(await copyOutputs(copy, source, options.withOutput ? backupState : null)), ...jobCounts };
  });
  const { renewResult, replacedEpoch, ...written } = result;
  if (replacedEpoch !== null && replacedEpoch !== app.store.epoch) removeAttempts(backupState, replacedEpoch);
  return { ...written, ...renewResult };
}

/** Gives a copy a new epoch and settles its running jobs as lost. Returns how many jobs it has, and how many were running. */
export async function renewCopy(app: Pick<App, 'clock' | 'random'>, copy: Store) {
  const running = (await copy.runningJobs()).length;
  const settings = resolveSettings(await copy.settings());
  await copy.renew(settlementOfLost(settings, app.clock.now(), app.random));
  const jobs = (await copy.counts()).reduce((sum, one) => sum + one.jobs, 0);
  return { jobs, running };
}

/**
 * Copies the long outputs of `store` from `source` to `target`. The names of their directories get the new epoch of the store.
 * If `target` is null, copies nothing and counts the outputs as `outputs_left`.
 */
export async function copyOutputs(
  store: Store,
  source: { epoch: string; stateDirectory: StateDirectory },
  target: StateDirectory | null,
): Promise<{ outputs: number; outputs_left: number }> {
  const counts = { outputs: 0, outputs_left: 0 };
  for (const attempt of attemptsIn(source.stateDirectory, source.epoch)) {
    const bytes = await store.bytesInFiles(attempt);
    if (bytes === null) continue;
    if (target === null) {
      counts.outputs_left++;
      continue;
    }
    const to = attemptFiles(target, store.epoch, attempt);
    try {
      copyOutput(attemptFiles(source.stateDirectory, source.epoch, attempt), to, bytes);
      counts.outputs++;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      // The output was pruned in the meantime.
      removeFiles(to);
    }
  }
  return counts;
}

/**
 * Copies the output and the gaps of an attempt, but not the record. Throws if `to` has output. Somebody else may be able to change the
 * files of a backup meanwhile, so no link is followed, and at most `bytes` bytes of each file are copied, as many as the store lists.
 */
export function copyOutput(from: AttemptFiles, to: AttemptFiles, bytes: number): void {
  crashPoint('before-keep-output');
  mkdirSync(to.state.attempts, { recursive: true, mode: 0o700 });
  crashPoint('making-keep-output');
  for (const stream of ['stdout', 'stderr'] as const) {
    const [source, target] = [streamFiles(from, stream), streamFiles(to, stream)];
    for (const kind of ['output', 'short'] as const) {
      const file = openFile(source[kind]);
      if (file === null) continue;
      try {
        crashPoint('in-keep-output');
        copyBytes(file, target[kind], bytes);
      } finally {
        closeSync(file);
      }
      crashPoint('after-keep-output');
    }
    const gap = readGap(source);
    if (gap !== null) writeGap(target, gap);
  }
}

/** Opens a regular file of any user. Returns null for anything else, such as a link or a pipe, and if there is none. */
function openFile(path: string): number | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    // `open` fails with ELOOP for a link, and with ENXIO for a socket.
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes((error as NodeJS.ErrnoException).code!)) return null;
    throw error;
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  return null;
}

/**
 * Replaces the store with a backup and keeps the old store. If the old store has contents or cannot be read, `confirm` decides.
 * Returns null if `confirm` returns false. `anyOwner` also replaces a store that belongs to another user.
 */
export async function restore(
  app: Pick<App, 'clock' | 'random'>,
  location: string,
  file: string,
  anyOwner: boolean,
  confirm: (contents: string) => boolean,
) {
  const care = await careOf(location);
  const stateDirectory = care.stateDirectoryOf(location);
  let oldEpoch: string | null = null;
  let copiedEpoch: string | null = null;
  const restored = await care.replace(location, file, anyOwner, {
    now: () => app.clock.now(),
    async begin(hasOld) {
      const old = hasOld ? await inspectOldStore(location, stateDirectory) : { contents: null, epoch: null };
      throwIfCommandsRun(stateDirectory);
      oldEpoch = old.epoch;
      return old.contents === null || confirm(old.contents);
    },
    async renew(copy) {
      await throwIfJobsRun(copy, stateDirectory);
      refuseLinks(stateBeside(resolve(file)));
      const { epoch, origin } = copy;
      const counts = await renewCopy(app, copy);
      // The outputs are beside the backup, or still in the state directory if the backup has none.
      const sources: [StateDirectory, string | null][] = [
        [stateBeside(resolve(file)), epoch],
        [stateDirectory, epoch],
        [stateDirectory, origin],
      ];
      copiedEpoch = copy.epoch;
      let outputs = 0;
      for (const [directory, sourceEpoch] of sources) {
        if (outputs > 0 || sourceEpoch === null) continue;
        const source = { epoch: sourceEpoch, stateDirectory: directory };
        ({ outputs } = await copyOutputs(copy, source, stateDirectory));
      }
      return { outputs, ...counts };
    },
    // This is checked again, because a worker may have started a command since `begin`. No worker can start one now.
    onHeld: () => throwIfCommandsRun(stateDirectory),
    onFailed() {
      if (copiedEpoch !== null) removeAttempts(stateDirectory, copiedEpoch);
    },
  });
  if (restored === null) return null;
  const { renewResult, kept, ...paths } = restored;
  if (kept !== null && oldEpoch !== null) moveOutputs(stateDirectory, stateBeside(kept), oldEpoch);
  return { ...paths, ...renewResult, kept };
}

/** Throws if a directory of the outputs beside a backup is a link. Whoever can write to the directory of the backup could have created it. */
function refuseLinks({ path, attempts }: StateDirectory): void {
  const link = [path, attempts].find((one) => lstatSync(one, { throwIfNoEntry: false })?.isSymbolicLink());
  if (link !== undefined)
    throw new QueueError(
      'not-permitted',
      `${link} is a symbolic link, and restore follows no links to outputs`,
      'replace the link with the directory to which it leads',
    );
}

/** Errors with these codes stop the restore. Any other error means that the old store cannot be read. */
const FATAL_CODES = new Set(['store-busy', 'wrong-state']);

/** Describes the old store. `contents` is null if the store is empty. Throws if it has a live worker or a running job. */
async function inspectOldStore(location: string, state: StateDirectory) {
  let store: Store | null = null;
  try {
    store = await peekStore(location);
    if (store === null) return { contents: 'a database of another version', epoch: null };
    const [worker] = await activeWorkers({ store, stateDirectory: state });
    if (worker !== undefined)
      throw new QueueError(
        'store-busy',
        `worker ${worker.id} is running`,
        'to stop all workers: queuectl worker stop',
      );
    await throwIfJobsRun(store, state);
    const jobs = (await store.counts()).reduce((sum, one) => sum + one.jobs, 0);
    const otherRows = (await store.schedules()).length + (await store.settings()).size;
    const contents = jobs > 0 ? countOf(jobs) : otherRows > 0 ? 'contains schedules or settings' : null;
    return { contents, epoch: store.epoch };
  } catch (error) {
    if (error instanceof QueueError && FATAL_CODES.has(error.code)) throw error;
    // A damaged store may open without an error. Then one of the reads above fails.
    return { contents: 'a database that cannot be read', epoch: null };
  } finally {
    await store?.close();
  }
}

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
 * Throws if the command of a job that the store lists as running may still be running. `hint` says what helps.
 */
export async function throwIfJobsRun(
  store: Store,
  stateDirectory: StateDirectory,
  hint = 'to let it finish: queuectl worker start --drain',
): Promise<void> {
  for (const job of await store.runningJobs()) {
    const command = runningCommandOf(attemptFiles(stateDirectory, store.epoch, job.claim.attempt));
    if (command === null) continue;
    const where = command.process === null ? ' (in that pid namespace)' : '';
    throw runningError(`job '${job.id}'`, command, hint + where);
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
