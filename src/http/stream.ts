import { type App, checkOpen } from '../actions/app.ts';
import { lastEventNumber } from '../actions/events.ts';
import { QueueError } from '../core/errors.ts';
import { type EventFeed, nextBatch, nextEvents, RETRY_MS, startFeed } from './event-feed.ts';

/** The event streams of a server. One reader of the store serves all clients. */
export interface EventStreams {
  /**
   * Streams the events after number `after`, or only new events for null, as server-sent events. With `everyMs` they come in
   * batches, at most that often, and a large batch has only the newest events. So the cost of a dashboard does not grow with
   * the number of events. The stream ends when `clientGone` or `rightsEnded` is aborted.
   */
  open(
    after: number | null,
    clientGone: AbortSignal,
    everyMs: number | null,
    rightsEnded: AbortSignal,
  ): Promise<Response>;
  /** Ends all open streams. */
  close(): void;
}

const MAX_STREAMS = 256;
/** An idle stream sends a comment this often, and ends if the store is unavailable. */
const KEEP_ALIVE_MS = 5000;
const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };

/** Creates the event streams of a server. `onNewEvents` is called before any client gets new events. */
export function createEventStreams(
  app: App,
  onError: (error: unknown) => void,
  onNewEvents: () => void,
): EventStreams {
  const closing = new AbortController();
  const { signal } = closing;
  const feed: EventFeed = {
    app,
    signal,
    onError,
    onNewEvents,
    listeners: new Set(),
    recent: [],
    newest: [],
    position: 0,
    started: null,
  };
  let openStreams = 0;
  return {
    async open(after, clientGone, everyMs, rightsEnded) {
      if (openStreams >= MAX_STREAMS)
        throw new QueueError('too-many-streams', 'too many event streams are open');
      openStreams++;
      try {
        await startFeed(feed);
        // A number above the last event belongs to another store.
        const last = Math.min(after ?? feed.position, await lastEventNumber(app));
        const subscriber: Subscriber = { last, everyMs, ended: false, stopWaiting() {} };
        return new Response(
          streamBody(feed, subscriber, clientGone, rightsEnded, () => openStreams--),
          { headers: HEADERS },
        );
      } catch (error) {
        openStreams--;
        throw error;
      }
    },
    close() {
      closing.abort(new Error('closed'));
      for (const wake of feed.listeners) wake();
    },
  };
}

/** The state of one open stream. */
interface Subscriber {
  /** The number of the last event that was sent. */
  last: number;
  readonly everyMs: number | null;
  ended: boolean;
  /** Ends the current wait for new events. */
  stopWaiting(): void;
}

/** Returns the body of one stream. `onEnd` is called once, however the stream ends. */
function streamBody(
  feed: EventFeed,
  subscriber: Subscriber,
  clientGone: AbortSignal,
  rightsEnded: AbortSignal,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const wake = (): void => subscriber.stopWaiting();
  feed.listeners.add(wake);
  const end = (): void => {
    if (subscriber.ended) return;
    subscriber.ended = true;
    onEnd();
    feed.listeners.delete(wake);
    rightsEnded.removeEventListener('abort', endAndClose);
    subscriber.stopWaiting();
  };
  let close = (): void => {};
  const endAndClose = (): void => {
    if (subscriber.ended) return;
    end();
    close();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      close = () => controller.close();
      controller.enqueue(Buffer.from(`retry: ${RETRY_MS}\n\n`));
    },
    // The runtime calls this only after the client has read the last bytes, so a client that does not read costs nothing.
    async pull(controller) {
      try {
        const bytes = await nextBytes(feed, subscriber);
        if (bytes === null || subscriber.ended) endAndClose();
        else controller.enqueue(bytes);
      } catch (error) {
        // The client reconnects with the number of the last event that it got.
        feed.onError(error);
        endAndClose();
      }
    },
    cancel: end,
  });
  clientGone.addEventListener('abort', end);
  if (clientGone.aborted) end();
  rightsEnded.addEventListener('abort', endAndClose);
  if (rightsEnded.aborted) endAndClose();
  return body;
}

/** Waits for the next bytes of one stream. Returns null if the stream has ended or the server closes. */
async function nextBytes(feed: EventFeed, subscriber: Subscriber): Promise<Uint8Array | null> {
  const { everyMs } = subscriber;
  while (!subscriber.ended && !feed.signal.aborted) {
    const chunk =
      everyMs === null
        ? await nextEvents(feed, subscriber.last)
        : await nextBatch(feed, subscriber.last, everyMs);
    if (chunk === null) {
      if (!(await waitOrWake(KEEP_ALIVE_MS, (resolve) => (subscriber.stopWaiting = resolve)))) continue;
      await checkOpen(feed.app);
      return Buffer.from(': alive\n\n');
    }
    if (subscriber.ended) return null;
    subscriber.last = chunk.last;
    if (chunk.bytes.length > 0) return chunk.bytes;
  }
  return null;
}

/** Resolves to true after `ms`. Passes a function to `provide` that ends the wait at once, with false. */
function waitOrWake(ms: number, provide: (wake: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms);
    provide(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
