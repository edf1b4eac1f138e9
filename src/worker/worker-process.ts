import { writeSync } from 'node:fs';
import type { App } from '../actions/app.ts';
import type { Emit } from '../core/rules/events.ts';
import { orNull } from '../core/text/language.ts';
import { isTemporary } from './loops.ts';
import type { WorkerOptions } from './state.ts';
import { READY_LINE } from './supervisor.ts';
import { startWorker, type WorkerHandle } from './worker.ts';

/** A worker that is told to stop before the store is open ends after this time, because the store may not answer. */
const EARLY_STOP_MS = 1000;

/** Runs one worker in this process until it ends. The worker follows its supervisor's orders. Signals only make it drain. */
export async function runWorkerProcess(
  open: () => Promise<App>,
  options: WorkerOptions,
  ignoreHangup: boolean,
  emit: Emit,
): Promise<void> {
  // The handlers come first, because a signal during the registration must not kill the process.
  const early: ((worker: WorkerHandle) => void)[] = [];
  const ended = Promise.withResolvers<null>();
  let obey = (order: (worker: WorkerHandle) => void): void => {
    early.push(order);
    setTimeout(() => ended.resolve(null), EARLY_STOP_MS);
  };
  const onSignal = (name: string): void => obey((worker) => worker.drainOnSignal(name));
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => onSignal(name));
  // A handler has to ignore the signal, because the runtime resets the ignored state that nohup has set.
  process.on('SIGHUP', () => ignoreHangup || onSignal('SIGHUP'));
  // The default action of SIGUSR1 would end the process.
  process.on('SIGUSR1', () => {});
  const drain = (why: string): void => obey((worker) => worker.stop('drain', why, true));
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (text: string) => {
    if (text.includes('force')) obey((worker) => worker.stop('force', 'second signal', true));
    else if (text.includes('drain')) onSignal('signal');
  });
  // End of file means that the supervisor has died. Nobody would replace this worker, so it drains.
  process.stdin.on('end', () => drain('supervisor is gone'));
  process.stdin.on('error', () => drain('supervisor is gone'));

  try {
    const app = await Promise.race([open(), ended.promise]);
    if (app === null) return;
    const worker = await startWorker(app, options, emit, () => early.length > 0);
    obey = (order) => order(worker);
    for (const order of early.splice(0)) order(worker);
    if (orNull(() => writeSync(1, `${READY_LINE}\n`)) === null) drain('supervisor is gone');
    await worker.done;
  } catch (error) {
    // The store could not be used when the worker was told to stop, so the worker never registered.
    if (early.length === 0 || !isTemporary(error)) throw error;
  } finally {
    process.stdin.destroy();
  }
}
