import type { App } from '../actions/app.ts';
import { makeSeal } from '../state/seal.ts';

/**
 * Makes sure that the directory of all attempts has the seal that the store holds. The file comes first: an attempt that is
 * claimed after the commit can rely on it, and all earlier ones are known to be older than the seal.
 */
export async function keepSeal(app: App): Promise<void> {
  const value = makeSeal(app.stateDirectory, app.store.epoch);
  if (value !== null && (await app.store.seal())?.value !== value) await app.store.storeSeal(value);
}
