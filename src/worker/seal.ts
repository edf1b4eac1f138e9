import type { App } from '../actions/app.ts';
import { makeSeal } from '../state/seal.ts';

/** Creates the seal if it is missing, and stores its value. Does nothing if the file cannot be written, as on a full disk. */
export async function keepSeal(app: App): Promise<void> {
  // The file is written first, so that it exists for every attempt claimed after the commit.
  const value = makeSeal(app.stateDirectory, app.store.epoch);
  if (value !== null && (await app.store.seal())?.value !== value) await app.store.storeSeal(value);
}
