import { type App, checkOpen, closeApp } from '../actions/app.ts';
import { QueueError } from '../core/errors.ts';

/** A replaced store is closed only after this time, because other requests may still be using it. */
const CLOSE_AFTER_MS = 30_000;

/**
 * Returns a check that throws if the store is unavailable. If another store, such as a copied backup, is now at its location,
 * the check opens that one and calls `onReopened`, because nothing that was cached for the old store is valid.
 */
export function createStoreCheck(
  app: App,
  reopen: () => Promise<App>,
  onReopened: () => void,
): () => Promise<void> {
  let reopening: Promise<void> | null = null;

  const reopenStore = async (): Promise<void> => {
    const old = { store: app.store };
    app.store = (await reopen()).store;
    onReopened();
    setTimeout(() => void closeApp(old).catch(() => {}), CLOSE_AFTER_MS).unref();
  };

  return async () => {
    try {
      await checkOpen(app);
    } catch (error) {
      if (!(error instanceof QueueError) || error.code !== 'store-unavailable') throw error;
      reopening ??= reopenStore().finally(() => {
        reopening = null;
      });
      await reopening;
    }
  };
}
