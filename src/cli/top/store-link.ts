import { actorOf } from '../../actions/actor.ts';
import { type App, closeApp, openApp } from '../../actions/app.ts';
import { onChange, onWake } from '../../exec/wake.ts';
import type { Context } from '../command.ts';

/** The store for as long as the screen is open: one that went away is opened anew when it is back. */
export interface StoreLink {
  app(): Promise<App>;
  /** What is open is of no use any more. */
  drop(): Promise<void>;
}

export function linkStore(context: Context, changed: () => void): StoreLink {
  let app: App | null = null;
  let unwatch: ((() => void) | null)[] = [];
  let first = true;
  let own = false;
  const drop = async (): Promise<void> => {
    for (const end of unwatch) end?.();
    unwatch = [];
    const old = app;
    app = null;
    // The first one is closed by whoever opened it.
    if (own && old !== null) await closeApp(old).catch(() => {});
  };
  return {
    async app() {
      if (app !== null) return app;
      app = first
        ? await context.app()
        : await openApp(context.location, actorOf(context.environment), { access: 'read', create: false });
      own = !first;
      first = false;
      // What workers did, and what they were told.
      unwatch = [onChange(app.stateDirectory, changed), onWake(app.stateDirectory, changed)];
      return app;
    },
    drop,
  };
}
