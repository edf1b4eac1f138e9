import { growingPause } from '../../../core/time/clock.ts';
import { connections } from '../sql/inspect.ts';
import { type Client, connectClient, keepRunning } from './client.ts';
import type { PostgresLocation } from './location.ts';

/** The longest pause before the next try to connect. */
const LONGEST_PAUSE_MS = 5000;
/** A lost connection may not be noticed without a statement on it. */
const PING_INTERVAL_MS = 30_000;

/** A process can poll instead of listening, so it does not take one of the last connections of the server. */
const LEFT_TO_COMMANDS = 3;

export interface ListenerOptions {
  location: PostgresLocation;
  /** A name without quotes. */
  channel: string;
  onNotification(payload: string): void;
  /** Is called when notifications may have been missed: after each connect, and after each failed try. */
  onGap(): void;
}

/**
 * Listens to a channel on a connection of its own, and connects again after the connection was lost. It does not keep the process
 * running. Returns a function that ends it.
 */
export function listen(options: ListenerOptions): () => void {
  const listener: Listener = { ...options, client: null, isOver: false };
  void keepListening(listener);
  return () => {
    listener.isOver = true;
    listener.client?.end().catch(() => {});
  };
}

interface Listener extends ListenerOptions {
  client: Client | null;
  isOver: boolean;
}

async function keepListening(listener: Listener): Promise<void> {
  for (let failures = 0; !listener.isOver; failures++) {
    try {
      await listenOnce(listener, () => {
        failures = 0;
      });
    } catch {
      // A lost connection is replaced, whatever the reason is.
    }
    listener.client?.end().catch(() => {});
    listener.client = null;
    if (listener.isOver) return;
    listener.onGap();
    // A random pause keeps many processes from connecting at the same moment.
    await idlePause(Math.random() * growingPause(failures, 100, LONGEST_PAUSE_MS));
  }
}

/** Listens until the connection ends. Calls `onListening` once it does. */
async function listenOnce(listener: Listener, onListening: () => void): Promise<void> {
  const client = await connectClient(listener.location);
  listener.client = client;
  const { used, connections: most } = (await client.query(connections)).rows[0];
  if (used > most - LEFT_TO_COMMANDS) throw new Error('the last connections are left to commands');
  if (listener.isOver) return;
  keepRunning(client, false);
  const ended = new Promise<true>((resolve) => client.once('end', () => resolve(true)));
  client.on('notification', ({ payload = '' }) => listener.onNotification(payload));
  await client.query(`LISTEN "${listener.channel}"`);
  onListening();
  listener.onGap();
  while (!(await Promise.race([ended, idlePause(PING_INTERVAL_MS)]))) await client.query('SELECT 1');
}

/** Pauses without keeping the process running. */
function idlePause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
