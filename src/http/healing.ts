import { type App, checkOpen, closeApp } from '../actions/app.ts';
import { QueueError } from '../core/errors.ts';

/** Others may be in the middle of something with the old one. */
const LET_GO_MS = 30_000;

/**
 * Looks whether the store is at its place. One that was replaced, such as by a backup that somebody copied there, is opened
 * in the place of the old one, and `onHealed` is told: nothing known of the old one holds any more.
 */
export function healing(app: App, reopen: () => Promise<App>, onHealed: () => void): () => Promise<void> {
  let opening: Promise<void> | null = null;

  const heal = async (): Promise<void> => {
    const old = { store: app.store };
    app.store = (await reopen()).store;
    onHealed();
    setTimeout(() => void closeApp(old).catch(() => {}), LET_GO_MS).unref();
  };

  return async () => {
    try {
      await checkOpen(app);
    } catch (error) {
      if (!(error instanceof QueueError) || error.code !== 'store-unavailable') throw error;
      opening ??= heal().finally(() => {
        opening = null;
      });
      await opening;
    }
  };
}
