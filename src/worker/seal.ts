import type { App } from '../actions/app.ts';
import { makeSeal } from '../state/seal.ts';

/** Makes sure that the directory of all attempts has a seal, and that the store holds the value of this seal. */
export async function keepSeal(app: App): Promise<void> {
  // The file is written first, so that it exists for every attempt claimed after the commit.
  const value = makeSeal(app.stateDirectory, app.store.epoch);
  if (value !== null && (await app.store.seal())?.value !== value) await app.store.storeSeal(value);
}
