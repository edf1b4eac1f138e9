import { type App, currentSettings, withoutRepeats } from '../actions/app.ts';
import { systemClock } from '../core/clock.ts';
import type { Emit } from '../core/events.ts';
import { HOOK_QUEUE } from '../core/hooks.ts';
import { offersOf } from '../core/runs-on.ts';
import { leaseClock } from '../exec/lease-clock.ts';
import { makeLifeline } from '../exec/lifeline.ts';
import { processes } from '../exec/processes.ts';
import { lastAttemptIn } from '../exec/running-commands.ts';
import { trimAllAttempts } from '../exec/trim.ts';
import { hostName } from '../files/host-name.ts';
import { thisHost } from '../state/host.ts';
import { makeKey } from '../state/key.ts';
import { createSpareOutputs } from '../state/spare-outputs.ts';
import type { NewWorker } from '../store/contract/workers.ts';
import { createLease } from './lease.ts';
import { keepSeal } from './seal.ts';
import type { RegisteredWorker, WorkerOptions } from './state.ts';
import { stopFileOf } from './stop-file.ts';
import { endStrays } from './strays.ts';
import { withRetries } from './temporary-errors.ts';

/** Registers a worker in the store and creates the files that it needs. Waits as long as temporary errors prevent that. */
export async function register(base: App, options: WorkerOptions, emit: Emit): Promise<RegisteredWorker> {
  const { id } = options;
  const tell = (message: string): void => emit({ type: 'worker-error', workerId: id, message });
  const app = { ...base, warn: withoutRepeats(tell) };
  const startedAt = app.clock.now();
  const host = thisHost(app.stateDirectory);
  makeKey(app.stateDirectory);
  const settings = await withRetries(() => currentSettings(app), { tell });
  const stopFile = stopFileOf(app.stateDirectory, process.env, options.stopFileSince ?? systemClock.now());
  // The output of a running command may have filled the disk.
  const freeSpace = (): Promise<void> => trimAllAttempts(app.stateDirectory, settings['output-limit']);
  const leaseMs = settings.lease;
  const hasLease = app.store.manyHosts === true;
  // The lease counts from the first try, because that may have succeeded although its answer got lost.
  const sentAt = hasLease ? leaseClock() : 0;
  await withRetries(() => addToStore(app, options, { host, startedAt, leaseMs }), { freeSpace, tell });
  const lease = hasLease ? createLease(app.stateDirectory, options.supervisor, tell) : null;
  if (lease !== null) {
    await withRetries(async () => lease.renewed(sentAt, settings), { freeSpace, tell });
    endStrays(app, settings['kill-grace']).catch((error: Error) => tell(error.message));
  }
  await withRetries(() => keepSeal(app), { freeSpace, tell });
  app.signals.tellChange();
  return {
    id,
    app,
    options,
    emit,
    host,
    settings,
    stopFile,
    lease,
    queues: options.queues === null ? null : [...options.queues, HOOK_QUEUE],
    offers: offersOf(hostName(), options.labels),
    lifeline: await makeLifeline(app.stateDirectory, id),
    spares: createSpareOutputs(app.stateDirectory),
    userSettings: {
      umask: process.umask(),
      openFileLimit: options.openFileLimit,
      cleanEnv: options.cleanEnv ?? false,
    },
    order: null,
    signalledAt: Number.NEGATIVE_INFINITY,
  };
}

function addToStore(
  app: App,
  options: WorkerOptions,
  more: Pick<NewWorker, 'host' | 'startedAt' | 'leaseMs'>,
): Promise<void> {
  const { id, supervisor, concurrency, queues, labels } = options;
  const { pid } = process;
  const startTime = processes.startTime(pid) ?? '';
  return app.store.register(
    { ...more, id, supervisor, pid, hostname: hostName(), concurrency, queues, labels, startTime },
    lastAttemptIn(app.stateDirectory, app.store.epoch),
  );
}
