import type { App } from '../actions/app.ts';
import { followPages, lastEventNumber, readEvents } from '../actions/events.ts';
import { pause } from '../core/clock.ts';
import { toEventObject } from '../core/event-object.ts';
import type { StoreEvent } from '../core/events.ts';
import { masked } from '../core/mask.ts';

/** The feed keeps about this many of the newest events. A stream that is further behind reads from the store. */
const KEPT_EVENTS = 2000;
/** A stream that is behind reads at most this many events at once. */
const PAGE_SIZE = 500;
/** Events that occur within these times are sent together, because reading and sending them one by one is expensive in a busy store. */
const PACE = { afterWakeMs: 50, afterReadMs: 250 };
/** The feed tries again after this time if the store is unavailable, and clients reconnect after it. */
export const RETRY_MS = 1000;
/** A batch contains at most this many events, and the count of the older events that it leaves out. */
const MAX_IN_BATCH = 200;

/** Holds the newest events of a store, which are read and serialized once for all streams of a server. */
export interface EventFeed {
  readonly app: App;
  /** Is aborted when the server closes. */
  readonly signal: AbortSignal;
  onError(error: unknown): void;
  /** Is called before any stream gets new events. */
  onNewEvents(): void;
  /** Functions that wake the streams when there are new events or the server closes. */
  readonly listeners: Set<() => void>;
  /** About the last KEPT_EVENTS events, as they are sent to streams without batches. */
  readonly recent: EventChunk[];
  /** The last MAX_IN_BATCH events, for streams with batches. */
  newest: SerializedEvent[];
  /** The number of the last event that was read. */
  position: number;
  /** Resolves when the feed has started. Null if it was not started, or if the start failed. */
  started: Promise<void> | null;
}

interface SerializedEvent {
  number: number;
  kind: string;
  json: string;
}

/** The events after number `after`, up to number `last`, as the bytes of server-sent events. */
export interface EventChunk {
  after: number;
  last: number;
  bytes: Uint8Array;
}

/** Starts to read events, unless the feed has started. Resolves when `position` is known. */
export function startFeed(feed: EventFeed): Promise<void> {
  const start = async (): Promise<void> => {
    feed.position = await lastEventNumber(feed.app);
    void readUntilClosed(feed);
  };
  feed.started ??= start().catch((error) => {
    feed.started = null;
    throw error;
  });
  return feed.started;
}

async function readUntilClosed(feed: EventFeed): Promise<void> {
  const { app, signal } = feed;
  while (!signal.aborted) {
    try {
      for await (const page of followPages(app, feed.position, signal, PACE)) publish(feed, page);
    } catch (error) {
      if (signal.aborted) return;
      // The store may be unavailable for a while. The events of that time are read afterwards.
      feed.onError(error);
      await pause(RETRY_MS);
    }
  }
}

function publish(feed: EventFeed, events: StoreEvent[]): void {
  const { recent } = feed;
  const added = events.map(serialize);
  const last = added.at(-1)!.number;
  recent.push({ after: feed.position, last, bytes: toMessages(added) });
  feed.position = last;
  feed.newest = [...feed.newest, ...added].slice(-MAX_IN_BATCH);
  while (feed.position - recent[0]!.after > KEPT_EVENTS && recent.length > 1) recent.shift();
  feed.onNewEvents();
  for (const wake of feed.listeners) wake();
}

/** Returns the next events after number `after`, each as a message of its own, or null if there are none yet. */
export async function nextEvents(feed: EventFeed, after: number): Promise<EventChunk | null> {
  const { app, position, recent } = feed;
  if (after >= position) return null;
  const known = recent.find((one) => one.after === after);
  if (known !== undefined) return known;
  const page: SerializedEvent[] = [];
  const last = Math.min(position, after + PAGE_SIZE);
  for await (const event of readEvents(app, after, last, {})) page.push(serialize(event));
  // The page is empty if the events in this range have been pruned.
  return { after, last: page.at(-1)?.number ?? last, bytes: toMessages(page) };
}

/** Waits `everyMs` and returns the newest events after `after` as one message, with the count of those left out, or null if there are none. */
export async function nextBatch(feed: EventFeed, after: number, everyMs: number): Promise<EventChunk | null> {
  if (after >= feed.position) return null;
  await pause(everyMs);
  const { app, newest, position: last } = feed;
  const from = Math.max(after, last - MAX_IN_BATCH);
  const events: SerializedEvent[] = [];
  if ((newest[0]?.number ?? last) <= from + 1)
    events.push(...newest.filter(({ number }) => number > from && number <= last));
  else for await (const event of readEvents(app, from, last, {})) events.push(serialize(event));
  const json = `{"events":[${events.map((event) => event.json).join(',')}],"missed":${from - after}}`;
  return { after, last, bytes: toMessages([{ number: last, kind: 'batch', json }]) };
}

function serialize(event: StoreEvent): SerializedEvent {
  return { number: event.number, kind: event.kind, json: JSON.stringify(masked(toEventObject(event))) };
}

/** Returns the events as server-sent events. */
function toMessages(events: SerializedEvent[]): Uint8Array {
  const messages = events.map(({ number, kind, json }) => `id: ${number}\nevent: ${kind}\ndata: ${json}\n\n`);
  return Buffer.from(messages.join(''));
}
