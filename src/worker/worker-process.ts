import { writeSync } from 'node:fs';
import type { App } from '../actions/app.ts';
import type { Emit } from '../core/events.ts';
import { orNull } from '../core/or-null.ts';
import type { WorkerOptions } from './state.ts';
import { READY_LINE } from './supervisor.ts';
import { startWorker } from './worker.ts';

/** Runs one worker in this process until it ends. The worker follows its supervisor's orders. Signals only make it drain. */
export async function runWorkerProcess(
  app: App,
  options: WorkerOptions,
  ignoreHangup: boolean,
  emit: Emit,
): Promise<void> {
  // The handlers come first, because a signal during the registration must not kill the process.
  const earlySignals: string[] = [];
  let onSignal = (name: string): void => void earlySignals.push(name);
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => onSignal(name));
  // A handler has to ignore the signal, because the runtime resets the ignored state that nohup has set.
  process.on('SIGHUP', () => ignoreHangup || onSignal('SIGHUP'));
  // The default action of SIGUSR1 would end the process.
  process.on('SIGUSR1', () => {});

  const worker = await startWorker(app, options, emit);
  onSignal = worker.drainOnSignal;
  for (const name of earlySignals) onSignal(name);
  const drain = (why: string): void => worker.stop('drain', why, true);

  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (text: string) => {
    if (text.includes('force')) worker.stop('force', 'second signal', true);
    else if (text.includes('drain')) drain('signal');
  });
  // End of file means that the supervisor has died. Nobody would replace this worker, so it drains.
  process.stdin.on('end', () => drain('supervisor is gone'));
  process.stdin.on('error', () => drain('supervisor is gone'));
  if (orNull(() => writeSync(1, `${READY_LINE}\n`)) === null) drain('supervisor is gone');
  try {
    await worker.done;
  } finally {
    process.stdin.destroy();
  }
}
