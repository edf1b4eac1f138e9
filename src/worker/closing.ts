import type { WorkerState } from './state.ts';

/** Stops all loops, timers and watches, so that the worker starts nothing more. */
export function close(worker: WorkerState): void {
  worker.over = true;
  for (const loop of Object.values(worker.loops)) loop.stop();
  for (const cancel of Object.values(worker.timers)) cancel();
  worker.wakeUps.end();
  worker.spares?.end();
  worker.lease?.release();
}

/** Ends the worker with an error. Its jobs keep running. */
export function fail(worker: WorkerState, error: unknown): void {
  if (worker.over) return;
  close(worker);
  worker.end.reject(error);
}
