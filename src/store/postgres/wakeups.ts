import type { Wakeups } from '../contract/wakeups.ts';
import type { ServerConnection } from './connection/connection.ts';
import { listen } from './connection/listener.ts';
import { type PostgresLocation, quoteName, readLocation } from './connection/location.ts';
import { CHANGE_EVERY_MS, channelOf, sendChange, sendWake, WAKE_EVERY_MS } from './sql/wakeups.ts';
import { createSender, type SignalKind } from './wakeup-sender.ts';

/**
 * A signal is not sent if one was sent a moment ago. So every receiver looks again this long after the last signal, when it can
 * see everything that was committed before the omitted one.
 */
const LOOK_AGAIN_MS: Record<SignalKind, number> = { wake: WAKE_EVERY_MS + 5, change: CHANGE_EVERY_MS + 5 };

export interface PostgresSignals {
  wakeups: Wakeups;
  /** Waits until the signals that were requested are sent. */
  flush(): Promise<void>;
}

/** Returns wake-ups that are sent by NOTIFY, after the transaction of the change and outside of it. */
export function postgresWakeups(db: ServerConnection, environment: NodeJS.ProcessEnv): PostgresSignals {
  const channel = channelOf(db.identity.store);
  const sender = createSender((kind) => send(db, channel, kind));
  const location = listenLocation(db.location, environment);
  const receivers = { wake: createReceivers('wake'), change: createReceivers('change') };
  let stop: (() => void) | null = null;
  const all = (): void => {
    receivers.wake.call();
    receivers.change.call();
  };
  const start = (): (() => void) =>
    listen({
      ...{ location: location!, channel, onGap: all },
      onNotification: (kind) => (kind === 'wake' ? all() : receivers.change.call()),
    });
  const on =
    (kind: SignalKind) =>
    (callback: () => void): (() => void) | null => {
      if (location === null) return null;
      const remove = receivers[kind].add(callback);
      stop ??= start();
      return () => {
        remove();
        if (receivers.wake.size > 0 || receivers.change.size > 0) return;
        stop?.();
        stop = null;
      };
    };
  return {
    wakeups: {
      wake: () => sender.request('wake'),
      tellChange: () => sender.request('change'),
      // It would connect to the server again.
      reopensCheaply: false,
      onWake: on('wake'),
      onChange: on('change'),
    },
    flush: sender.flush,
  };
}

async function send(db: ServerConnection, channel: string, kind: SignalKind): Promise<void> {
  const { schema, prepared } = db.location;
  const text = (kind === 'wake' ? sendWake : sendChange)(quoteName(schema));
  await db.withClientOnce((client) =>
    client.query({ text, values: [channel], ...(prepared && { name: `signal_${kind}` }) }),
  );
}

/** Returns where to listen, or null if a pooler is between, which delivers no notifications. */
function listenLocation(location: PostgresLocation, environment: NodeJS.ProcessEnv): PostgresLocation | null {
  if (location.listen !== null) return readLocation(location.listen, environment);
  return location.prepared ? location : null;
}

/** The callbacks for one kind of signal. */
function createReceivers(kind: SignalKind) {
  const callbacks = new Set<{ callback: () => void }>();
  let timer: NodeJS.Timeout | undefined;
  const callAll = (): void => {
    for (const { callback } of callbacks) callback();
  };
  return {
    get size() {
      return callbacks.size;
    },
    /** Adds a callback. Returns a function that removes it. */
    add(callback: () => void): () => void {
      const entry = { callback };
      callbacks.add(entry);
      return () => void callbacks.delete(entry);
    },
    /** Calls all callbacks now, and once more a moment after the last signal. */
    call(): void {
      callAll();
      clearTimeout(timer);
      timer = setTimeout(callAll, LOOK_AGAIN_MS[kind]);
      timer.unref();
    },
  };
}
