import { writeSync } from 'node:fs';
import type { App } from '../actions/app.ts';
import type { Emit } from '../core/events.ts';
import type { WorkerOptions } from './state.ts';
import { READY } from './supervisor.ts';
import { startWorker } from './worker.ts';

/** Runs one worker in a process of its own. It follows its supervisor's orders. Signals to this process only make it drain. */
export async function workerProcess(
  app: App,
  options: WorkerOptions,
  ignoreHangup: boolean,
  emit: Emit,
): Promise<void> {
  // The handlers come first, because a signal during the registration must not kill the process.
  const early: string[] = [];
  let onSignal = (name: string): void => void early.push(name);
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => onSignal(name));
  // A handler has to ignore the signal, because the runtime resets the ignored state that nohup has set.
  process.on('SIGHUP', () => ignoreHangup || onSignal('SIGHUP'));
  process.on('SIGUSR1', () => {});

  const worker = await startWorker(app, options, emit);
  onSignal = worker.signal;
  for (const name of early) onSignal(name);
  const drain = (why: string): void => worker.stop('drain', why, true);

  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (text: string) => {
    if (text.includes('force')) worker.stop('force', 'second signal', true);
    else if (text.includes('drain')) drain('signal');
  });
  // End of file means that the supervisor has died. Nobody would replace this worker, so it drains.
  process.stdin.on('end', () => drain('supervisor is gone'));
  process.stdin.on('error', () => drain('supervisor is gone'));
  try {
    writeSync(1, `${READY}\n`);
  } catch {
    drain('supervisor is gone');
  }
  try {
    await worker.done;
  } finally {
    process.stdin.destroy();
  }
}
