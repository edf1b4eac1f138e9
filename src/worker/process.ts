import { writeSync } from 'node:fs';
import type { App } from '../actions/app.ts';
import type { Emit } from '../core/events.ts';
import type { WorkerOptions } from './state.ts';
import { READY } from './supervisor.ts';
import { startWorker } from './worker.ts';

/** One worker as a process of its own: obeys its supervisor, takes any number of signals of its own as one "drain". */
export async function workerProcess(
  app: App,
  options: WorkerOptions,
  ignoreHangup: boolean,
  emit: Emit,
): Promise<void> {
  // Before anything else: a signal that comes while we register must not kill us.
  const early: string[] = [];
  let onSignal = (name: string): void => void early.push(name);
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => onSignal(name));
  // Ignored by a handler: the runtime gives a child back the default that nohup had taken away.
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
  // End of file is the supervisor's death: nobody would replace us, so finish and go.
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
