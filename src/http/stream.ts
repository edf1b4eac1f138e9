import { type App, checkOpen } from '../actions/app.ts';
import { followPages, lastEventNumber, readEvents } from '../actions/events.ts';
import { QueueError } from '../core/errors.ts';
import { EVENT_KINDS, type StoreEvent, toEventObject } from '../core/rules/events.ts';
import { orNull } from '../core/text/language.ts';
import { masked } from '../core/text/mask.ts';
import { pause } from '../core/time/clock.ts';
import type { Grant, Role } from './access.ts';

/** The feed keeps this many of the newest events. A stream that is further behind reads from the store. */
const KEPT_EVENTS = 2000;
/** A stream that is behind reads at most this many events at once. */
const PAGE_SIZE = 500;
/** Events that occur within these times are sent together, because reading and sending them one by one is expensive in a busy store. */
const PACE = { afterWakeMs: 50, afterReadMs: 250 };
/** The feed tries again after this time if the store is unavailable, and clients reconnect after it. */
const RETRY_MS = 1000;
/** A batch contains at most this many events, and the count of the older events that it leaves out. */
const MAX_IN_BATCH = 200;

interface SerializedEvent {
  number: number;
  kind: string;
  json: string;
}

/** The events up to number `last` that a stream has not sent yet, as the bytes of server-sent events. */
interface EventChunk {
  last: number;
  bytes: Uint8Array;
}

type EventFeed = ReturnType<typeof createFeed>;

/**
 * Returns what holds the newest events of a store, which are read and serialized once for all streams of a server. `signal` is aborted
 * when the server closes. `onNewEvents` is called before any stream gets new events.
 */
const createFeed = (
  app: App,
  signal: AbortSignal,
  onError: (error: unknown) => void,
  onNewEvents: () => void,
) => ({
  ...{ app, signal, onError, onNewEvents },
  /** Functions that wake the streams when there are new events. */
  listeners: new Set<() => void>(),
  /** The last KEPT_EVENTS events. */
  recent: [] as SerializedEvent[],
  /** The number of the last event that was read. */
  position: 0,
  /** Resolves when the feed has started. Null if it was not started, or if the start failed. */
  started: null as Promise<void> | null,
});

/** Starts to read events, unless the feed has started. Resolves when `position` is known. */
function startFeed(feed: EventFeed): Promise<void> {
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
  feed.recent = [...feed.recent, ...events.map(serialize)].slice(-KEPT_EVENTS);
  feed.position = events.at(-1)!.number;
  feed.onNewEvents();
  for (const wake of feed.listeners) wake();
}

/** Returns the events after number `after`, up to number `last`. There may be none, because events are pruned. */
async function eventsBetween({ app, recent }: EventFeed, after: number, last: number) {
  return recent[0] !== undefined && recent[0].number <= after + 1
    ? recent.filter(({ number }) => number > after && number <= last)
    : Array.fromAsync(readEvents(app, after, last, {}), serialize);
}

/** Returns the next events after number `after`, each as a message of its own, or null if there are none yet. */
async function nextEvents(feed: EventFeed, after: number): Promise<EventChunk | null> {
  if (after >= feed.position) return null;
  const last = Math.min(feed.position, after + PAGE_SIZE);
  return { last, bytes: toMessages(await eventsBetween(feed, after, last)) };
}

/** Waits `everyMs` and returns the newest events after `after` as one message, with the count of those left out, or null if there are none. */
async function nextBatch(feed: EventFeed, after: number, everyMs: number): Promise<EventChunk | null> {
  if (after >= feed.position) return null;
  await pause(everyMs);
  const last = feed.position;
  const from = Math.max(after, last - MAX_IN_BATCH);
  const events = await eventsBetween(feed, from, last);
  const json = `{"events":[${events.map((event) => event.json).join(',')}],"missed":${from - after}}`;
  return { last, bytes: toMessages([{ number: last, kind: 'batch', json }]) };
}

/** An unknown kind, from a newer version or a changed database, is only in the JSON, because a line break in it would end its line. */
function serialize(event: StoreEvent): SerializedEvent {
  const kind = EVENT_KINDS.includes(event.kind) ? event.kind : 'unknown';
  return { number: event.number, kind, json: JSON.stringify(masked(toEventObject(event))) };
}

/** Returns the events as server-sent events. */
function toMessages(events: SerializedEvent[]): Uint8Array {
  const messages = events.map(({ number, kind, json }) => `id: ${number}\nevent: ${kind}\ndata: ${json}\n\n`);
  return Buffer.from(messages.join(''));
}

/** The limit counts by role, so that clients with the read-only token cannot use up the streams of the full token. */
const MAX_STREAMS_PER_ROLE = 256;
/** An idle stream sends a comment this often, and ends if the store is unavailable. */
const KEEP_ALIVE_MS = 5000;
const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };

export type EventStreams = ReturnType<typeof createEventStreams>;

/**
 * Creates the event streams of a server. One reader of the store serves all clients. `onNewEvents` is called before any client
 * gets new events.
 */
export function createEventStreams(app: App, onError: (error: unknown) => void, onNewEvents: () => void) {
  const closing = new AbortController();
  const feed = createFeed(app, closing.signal, onError, onNewEvents);
  const openStreams: Record<Role, number> = { full: 0, 'read-only': 0 };
  return {
    /**
     * Streams the events after number `after`, or only new events for null, as server-sent events. With `everyMs` they come in
     * batches, at most that often, and a large batch has only the newest events. So the cost of a dashboard does not grow with
     * the number of events. The stream ends when `clientGone` or the signal of the grant is aborted.
     */
    async open(
      after: number | null,
      clientGone: AbortSignal,
      everyMs: number | null,
      { role, ended }: Grant,
    ): Promise<Response> {
      if (openStreams[role] >= MAX_STREAMS_PER_ROLE)
        throw new QueueError('too-many-streams', 'too many event streams are open');
      openStreams[role]++;
      const over = new AbortController();
      over.signal.addEventListener('abort', () => openStreams[role]--);
      try {
        await startFeed(feed);
        // A number above the last event belongs to another store.
        const last = Math.min(after ?? feed.position, await lastEventNumber(app));
        for (const signal of [clientGone, ended, closing.signal]) {
          signal.addEventListener('abort', () => over.abort(), { signal: over.signal });
          if (signal.aborted) over.abort();
        }
        return new Response(streamBody(messages(feed, last, everyMs, over.signal), over), {
          headers: HEADERS,
        });
      } catch (error) {
        over.abort();
        throw error;
      }
    },
    /** Ends all open streams. */
    close: (): void => closing.abort(new Error('closed')),
  };
}

/** Returns the body of a stream. It is closed when `over` is aborted, and `over` is aborted when it ends. */
function streamBody(chunks: AsyncGenerator<Uint8Array>, over: AbortController): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      // A stream that the client has cancelled is closed already.
      const close = (): unknown => orNull(() => controller.close());
      over.signal.addEventListener('abort', close);
      if (over.signal.aborted) close();
    },
    // The runtime calls this only after the client has read the last bytes, so a client that does not read costs nothing.
    async pull(controller) {
      const { value } = await chunks.next();
      if (value === undefined) over.abort();
      else if (!over.signal.aborted) controller.enqueue(value);
    },
    cancel: () => over.abort(),
  });
}

/** Yields the bytes of a stream with the events after number `last`, until `over` is aborted. */
async function* messages(
  feed: EventFeed,
  last: number,
  everyMs: number | null,
  over: AbortSignal,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`retry: ${RETRY_MS}\n\n`);
  try {
    for (let sent = last; !over.aborted; ) {
      const chunk = everyMs === null ? await nextEvents(feed, sent) : await nextBatch(feed, sent, everyMs);
      if (chunk !== null) {
        sent = chunk.last;
        if (chunk.bytes.length > 0) yield chunk.bytes;
      } else if (!(await newEvents(feed, sent, over))) {
        await checkOpen(feed.app);
        yield Buffer.from(': alive\n\n');
      }
    }
  } catch (error) {
    // The client reconnects with the number of the last event that it got.
    feed.onError(error);
  }
}

/** Resolves to true when there may be events after number `last` or the stream is over, and to false after KEEP_ALIVE_MS. */
function newEvents(feed: EventFeed, last: number, over: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (result: boolean): void => {
      clearTimeout(timer);
      feed.listeners.delete(wake);
      over.removeEventListener('abort', wake);
      resolve(result);
    };
    const wake = (): void => end(true);
    const timer = setTimeout(() => end(false), KEEP_ALIVE_MS);
    feed.listeners.add(wake);
    over.addEventListener('abort', wake);
    if (feed.position > last || over.aborted) wake();
  });
}
