import { type App, checkOpen } from '../actions/app.ts';
import { lastEvent } from '../actions/events.ts';
import { QueueError } from '../core/errors.ts';
import { type EventFeed, nextBatch, nextEvents, RETRY_MS, startFeed } from './event-feed.ts';

/** The event streams of a server: one reader of the store for all clients, however many they are. */
export interface EventStream {
  /**
   * Streams the events behind number `after`, or from now on (null), as server-sent events. With `everyMs` they come in
   * batches, no more often than that, and a large batch has only some of them. A page that reads again what has changed
   * needs no more, and its cost does not grow with the number of events. The stream ends when `allowed` is aborted.
   */
  open(
    after: number | null,
    signal: AbortSignal,
    everyMs?: number | null,
    allowed?: AbortSignal,
  ): Promise<Response>;
  /** Ends all open streams. */
  close(): void;
}

const MOST_STREAMS = 256;
/** An idle stream sends a comment this often, and ends if the store is away. */
const PULSE_MS = 5000;
const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };

/** `onNews`: called before anybody is told of something new. */
export function createEventStream(
  app: App,
  onError: (error: unknown) => void,
  onNews: () => void = () => {},
): EventStream {
  const closing = new AbortController();
  const { signal } = closing;
  const feed: EventFeed = {
    ...{ app, signal, onError, onNews },
    ...{ waiting: new Set(), recent: [], newest: [], position: 0, running: null },
  };
  let open = 0;
  return {
    async open(after, client, everyMs = null, allowed = signal) {
      if (open >= MOST_STREAMS) throw new QueueError('too-many-streams', 'too many event streams are open');
      open++;
      try {
        await startFeed(feed);
        // A number from the future is of another store.
        const last = Math.min(after ?? feed.position, await lastEvent(app));
        const subscriber: Subscriber = { last, everyMs, ended: false, rouse() {} };
        return new Response(
          subscribe(feed, subscriber, client, allowed, () => open--),
          { headers: HEADERS },
        );
      } catch (error) {
        open--;
        throw error;
      }
    },
    close() {
      closing.abort(new Error('closed'));
      for (const wake of feed.waiting) wake();
    },
  };
}

/** Holds what one open stream has come to. */
interface Subscriber {
  /** The number of the last event that was sent. */
  last: number;
  readonly everyMs: number | null;
  ended: boolean;
  /** Ends the present wait for news. */
  rouse(): void;
}

/** Returns the body of one stream. `onEnd` is called once, however the stream ends. */
function subscribe(
  feed: EventFeed,
  subscriber: Subscriber,
  client: AbortSignal,
  allowed: AbortSignal,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const wake = (): void => subscriber.rouse();
  feed.waiting.add(wake);
  const end = (): void => {
    if (subscriber.ended) return;
    subscriber.ended = true;
    onEnd();
    feed.waiting.delete(wake);
    allowed.removeEventListener('abort', shut);
    subscriber.rouse();
  };
  let close = (): void => {};
  const shut = (): void => {
    if (subscriber.ended) return;
    end();
    close();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      close = () => controller.close();
      controller.enqueue(Buffer.from(`retry: ${RETRY_MS}\n\n`));
    },
    // Asked only when the client has taken what came before: one that does not read costs nothing.
    async pull(controller) {
      try {
        const bytes = await nextBytes(feed, subscriber);
        if (bytes === null || subscriber.ended) shut();
        else controller.enqueue(bytes);
      } catch (error) {
        // It comes back with the number of the last event it saw.
        feed.onError(error);
        shut();
      }
    },
    cancel: end,
  });
  client.addEventListener('abort', end);
  if (client.aborted) end();
  allowed.addEventListener('abort', shut);
  if (allowed.aborted) shut();
  return body;
}

/** Waits for what comes next in one stream. Null: the stream has ended, or the server closes. */
async function nextBytes(feed: EventFeed, subscriber: Subscriber): Promise<Uint8Array | null> {
  const { everyMs } = subscriber;
  while (!subscriber.ended && !feed.signal.aborted) {
    const stretch =
      everyMs === null
        ? await nextEvents(feed, subscriber.last)
        : await nextBatch(feed, subscriber.last, everyMs);
    if (stretch === null) {
      if (!(await slept(PULSE_MS, (resolve) => (subscriber.rouse = resolve)))) continue;
      await checkOpen(feed.app);
      return Buffer.from(': alive\n\n');
    }
    if (subscriber.ended) return null;
    subscriber.last = stretch.last;
    if (stretch.bytes.length > 0) return stretch.bytes;
  }
  return null;
}

/** Resolves to true after the time, or to false as soon as the function that `hand` gets is called. */
function slept(ms: number, hand: (wake: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms);
    hand(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
