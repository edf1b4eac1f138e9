import { actorOf } from '../../actions/actor.ts';
import { type App, closeApp, openApp } from '../../actions/app.ts';
import type { Context } from '../command.ts';

/** Keeps the store open while the screen is shown. A store that was closed by `drop` is opened again when it is needed. */
export interface StoreLink {
  app(): Promise<App>;
  /** Closes the store after an error, so that the next `app` opens it again. */
  drop(): Promise<void>;
}

export function linkStore(context: Context, changed: () => void): StoreLink {
  let app: App | null = null;
  let unwatch: ((() => void) | null)[] = [];
  let isFirst = true;
  let openedHere = false;
  const drop = async (): Promise<void> => {
    for (const end of unwatch) end?.();
    unwatch = [];
    const old = app;
    app = null;
    // The first store was opened by `context.app`, and is closed at the end of the command.
    if (openedHere && old !== null) await closeApp(old).catch(() => {});
  };
  return {
    async app() {
      if (app !== null) return app;
      app = isFirst
        ? await context.app()
        : await openApp(context.location, actorOf(context.environment), {
            access: 'read',
            ifMissing: 'refuse',
            anyOwner: context.anyOwner,
            storeTimeoutMs: context.storeTimeoutMs,
          });
      openedHere = !isFirst;
      isFirst = false;
      // A change that may give workers something to do is reported in two ways, of which one may get lost.
      unwatch = [app.signals.onChange(changed), app.signals.onWake(changed)];
      return app;
    },
    drop,
  };
}
