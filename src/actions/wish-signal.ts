import type { App } from './app.ts';

/** Lets the workers of running jobs on other hosts signal them. Returns the ids of the jobs that will get the signal. */
export async function wishSignal(app: App, ids: string[], signal: NodeJS.Signals): Promise<string[]> {
  const wished = await app.store.wishSignal(ids, signal);
  if (wished.length > 0) app.signals.wake();
  return wished;
}
