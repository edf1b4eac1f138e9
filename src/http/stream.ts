import type { App } from '../actions/app.ts';
import { followPages, readEvents } from '../actions/events.ts';
import { pause } from '../core/clock.ts';
import { QueueError } from '../core/errors.ts';
import { toEventObject } from '../core/event-object.ts';
import type { StoreEvent } from '../core/events.ts';
import { masked } from '../core/mask.ts';

/** One reader of the store for all who look on, however many they are. */
export interface EventStream {
  /**
   * Server-sent events behind number `after`, or from now on (null). With `everyMs` they come together, no more often than
   * that, and of very many only some: for a page that reads again what has changed, at a cost that does not grow with it.
   * The stream ends when `allowed` is aborted.
   */
  open(
    after: number | null,
    signal: AbortSignal,
    everyMs?: number | null,
    allowed?: AbortSignal,
  ): Promise<Response>;
  /** Ends all that are open. */
  close(): void;
}

const MOST_STREAMS = 256;
/** So many of the newest events are kept for all; who is further behind reads them from the store, at its own pace. */
const REMEMBERED = 2000;
const PAGE = 500;
/** What happens meanwhile goes out together: a busy store is not read, worded and sent event by event. */
const PACE = { soonMs: 50, calmMs: 250 };
/** So often who looks on is told that the stream lives, and it is looked whether the store does. */
const PULSE_MS = 5000;
const RETRY_MS = 1000;
/** So many events of a batch are told; of the others only their number. */
const MOST_TOLD = 200;

/** Events in a row, worded once for all. */
interface Stretch {
  after: number;
  last: number;
  bytes: Uint8Array;
}

/** `onNews`: called before anybody is told of something new. */
export function createEventStream(
  app: App,
  onError: (error: unknown) => void,
  onNews: () => void = () => {},
): EventStream {
  const closing = new AbortController();
  const { signal } = closing;
  const waiting = new Set<() => void>();
  const recent: Stretch[] = [];
  let newest: { number: number; text: string }[] = [];
  let open = 0;
  let running: Promise<void> | null = null;
  let position = 0;

  const publish = (events: StoreEvent[]): void => {
    const texts = events.map((event) => ({ number: event.number, text: textOf(event) }));
    const { number } = texts.at(-1)!;
    recent.push({ after: position, last: number, bytes: worded(events, texts) });
    position = number;
    newest = [...newest, ...texts].slice(-MOST_TOLD);
    while (position - recent[0]!.after > REMEMBERED && recent.length > 1) recent.shift();
    onNews();
    for (const wake of waiting) wake();
  };

  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        for await (const page of followPages(app, position, signal, PACE)) publish(page);
      } catch (error) {
        if (signal.aborted) return;
        // The store may be away for a while; what happens meanwhile is read afterwards.
        onError(error);
        await pause(RETRY_MS);
      }
    }
  };

  const start = async (): Promise<void> => {
    position = await app.store.lastEvent();
    void follow();
  };

  /** What comes behind event `after`; null: nothing yet. */
  const next = async (after: number): Promise<Stretch | null> => {
    if (after >= position) return null;
    const known = recent.find((one) => one.after === after);
    if (known !== undefined) return known;
    const page: StoreEvent[] = [];
    for await (const event of readEvents(app, after, Math.min(position, after + PAGE), {})) page.push(event);
    // What was there has been pruned.
    if (page.length === 0) return { after, last: Math.min(position, after + PAGE), bytes: new Uint8Array() };
    return { after, last: page.at(-1)!.number, bytes: worded(page) };
  };

  /** What has come behind event `after` after a while, in one: the newest told, the others counted. */
  const together = async (after: number, everyMs: number): Promise<Stretch | null> => {
    if (after >= position) return null;
    await pause(everyMs);
    const last = position;
    const from = Math.max(after, last - MOST_TOLD);
    const texts: string[] = [];
    if ((newest[0]?.number ?? last) <= from + 1)
      texts.push(...newest.filter(({ number }) => number > from && number <= last).map(({ text }) => text));
    else for await (const event of readEvents(app, from, last, {})) texts.push(textOf(event));
    return { after, last, bytes: Buffer.from(batch(last, texts, from - after)) };
  };

  return {
    async open(after, client, everyMs = null, allowed = signal) {
      if (open >= MOST_STREAMS) throw new QueueError('too-many-streams', 'too many event streams are open');
      open++;
      let last: number;
      try {
        running ??= start().catch((error) => {
          running = null;
          throw error;
        });
        await running;
        // A number from the future is of another store.
        last = Math.min(after ?? position, await app.store.lastEvent());
      } catch (error) {
        open--;
        throw error;
      }
      let rouse = (): void => {};
      const wake = (): void => rouse();
      waiting.add(wake);
      let ended = false;
      const end = (): void => {
        if (ended) return;
        ended = true;
        open--;
        waiting.delete(wake);
        allowed.removeEventListener('abort', shut);
        rouse();
      };
      let close = (): void => {};
      const shut = (): void => {
        if (ended) return;
        end();
        close();
      };
      const encoder = new TextEncoder();
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          close = () => controller.close();
          controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
        },
        // Asked only when the client has taken what came before: one that does not read costs nothing.
        async pull(controller) {
          try {
            while (!ended && !signal.aborted) {
              const stretch = everyMs === null ? await next(last) : await together(last, everyMs);
              if (stretch === null) {
                if (!(await slept(PULSE_MS, (resolve) => (rouse = resolve)))) continue;
                await app.store.check();
                if (ended) return;
                return controller.enqueue(encoder.encode(': alive\n\n'));
              }
              if (ended) return;
              last = stretch.last;
              if (stretch.bytes.length > 0) return controller.enqueue(stretch.bytes);
            }
            shut();
          } catch (error) {
            // It comes back with the number of the last event it saw.
            onError(error);
            shut();
          }
        },
        cancel: end,
      });
      client.addEventListener('abort', end);
      if (client.aborted) end();
      allowed.addEventListener('abort', shut);
      if (allowed.aborted) shut();
      return new Response(body, {
        headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
      });
    },
    close() {
      closing.abort(new Error('closed'));
      for (const wake of waiting) wake();
    },
  };
}

/** True: the time is up; false: somebody called what `hand` was given. */
function slept(ms: number, hand: (wake: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms);
    hand(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}

const textOf = (event: StoreEvent): string => JSON.stringify(masked(toEventObject(event)));

function worded(events: StoreEvent[], texts = events.map((event) => ({ text: textOf(event) }))): Uint8Array {
  const lines = events.map(
    ({ number, kind }, i) => `id: ${number}\nevent: ${kind}\ndata: ${texts[i]!.text}\n\n`,
  );
  return Buffer.from(lines.join(''));
}

function batch(last: number, texts: string[], missed: number): string {
  return `id: ${last}\nevent: batch\ndata: {"events":[${texts.join(',')}],"missed":${missed}}\n\n`;
}
