import type { EventKind, NewEvent, StoreEvent } from '../core/rules/events.ts';
import type { App } from './app.ts';
import { watchChanges } from './jobs/wait.ts';

const EVENTS_PER_PAGE = 1000;

/** Selects events. A field that is not given matches all events. */
export interface EventFilter {
  kinds?: EventKind[] | undefined;
  jobId?: string | undefined;
  queue?: string | undefined;
  /** A prefix of the actor's name. */
  actor?: string | undefined;
}

function matches({ kind, jobId, queue, actor }: StoreEvent, filter: EventFilter): boolean {
  return (
    (filter.kinds === undefined || filter.kinds.includes(kind)) &&
    (filter.jobId === undefined || filter.jobId === jobId) &&
    (filter.queue === undefined || filter.queue === queue) &&
    (filter.actor === undefined || actor?.startsWith(filter.actor) === true)
  );
}

export const lastEventNumber = (app: App): Promise<number> => app.store.lastEventNumber();
export const lastEventNumberBefore = (app: App, at: number) => app.store.lastEventNumberBefore(at);
/** Adds an event that belongs to no job. */
export const noteEvent = (app: App, event: NewEvent): Promise<void> => app.store.note(event);

/** Yields the matching events after number `after`, up to number `to`. */
export async function* readEvents(app: App, after: number, to: number, filter: EventFilter) {
  for (let last = after; last < to; ) {
    const page = await app.store.events(last, Math.min(EVENTS_PER_PAGE, to - last));
    for (const event of page) if (event.number <= to && matches(event, filter)) yield event;
    if (page.length === 0) return;
    last = page.at(-1)!.number;
  }
}

/** Yields pages of events, newest first, from number `to` down to `floor` + 1. Ends early, with an empty page, if the rest was pruned. */
async function* pagesBackwards(app: App, to: number, floor: number): AsyncGenerator<StoreEvent[]> {
  for (let end = to; end > floor; end -= EVENTS_PER_PAGE) {
    const page = await app.store.events(Math.max(0, end - EVENTS_PER_PAGE), Math.min(EVENTS_PER_PAGE, end));
    const older = page.filter((event) => event.number <= end).reverse();
    yield older;
    if (older.length === 0) return;
  }
}

/** Returns an `after` with which `readEvents` yields the last `count` matching events up to `to`, or all if there are fewer. */
export async function startOfLastEvents(app: App, count: number, to: number, filter: EventFilter) {
  if (count === 0) return to;
  let matchCount = 0;
  for await (const page of pagesBackwards(app, to, 0))
    for (const event of page) if (matches(event, filter) && ++matchCount === count) return event.number - 1;
  return 0;
}

interface Page {
  /** The newest event is first. */
  events: StoreEvent[];
  /** The `to` for the next call, which returns older events. It is 0 if there are none. */
  next: number;
}

/** One call examines at most this many events, however few of them match. */
const MAX_EXAMINED = 10 * EVENTS_PER_PAGE;

/** Returns at most `limit` of the last matching events up to number `to`. */
export async function lastEvents(app: App, limit: number, to: number, filter: EventFilter): Promise<Page> {
  if (filter.jobId !== undefined) return lastEventsOfJob(app, limit, to, filter);
  const events: StoreEvent[] = [];
  const floor = Math.max(0, to - MAX_EXAMINED);
  for await (const page of pagesBackwards(app, to, floor)) {
    if (page.length === 0) return { events, next: 0 };
    for (const event of page)
      if (matches(event, filter) && events.push(event) === limit) return { events, next: event.number - 1 };
  }
  return { events, next: floor };
}

/** The same limit for the events of one job. It is higher, because the store filters these events itself. */
const MAX_EXAMINED_FOR_JOB = 200_000;
/** The events are examined in stretches of this many. Other requests are served after each stretch. */
const EVENTS_PER_STRETCH = 20_000;
/** After this time, no further stretch is examined. */
const TIME_LIMIT_MS = 15;

async function lastEventsOfJob(app: App, limit: number, to: number, filter: EventFilter): Promise<Page> {
  const floor = Math.max(0, to - MAX_EXAMINED_FOR_JOB);
  const deadline = app.clock.monotonic() + TIME_LIMIT_MS;
  const events: StoreEvent[] = [];
  let end = to;
  while (end > floor && events.length < limit) {
    const from = Math.max(floor, end - EVENTS_PER_STRETCH);
    events.push(...(await app.store.eventsOfJob(filter.jobId!, from, end, limit - events.length)));
    end = from;
    if (app.clock.monotonic() > deadline) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const next = events.length === limit ? events.at(-1)!.number - 1 : end;
  return { events: events.filter((event) => matches(event, filter)), next };
}

/** Yields each matching event after number `after` once and in order, until `signal` aborts. Then throws its reason. */
export async function* followEvents(app: App, after: number, filter: EventFilter, signal: AbortSignal) {
  for await (const page of followPages(app, after, signal))
    for (const event of page) if (matches(event, filter)) yield event;
}

/** How long to wait after a wake-up, or after a read that found events, so that the next read finds several events of a busy queue. */
const DEFAULT_DELAYS = { afterWakeMs: 0, afterReadMs: 20 };

/** Yields all events after number `after` in pages, one per read, until `signal` aborts. Then throws its reason. */
export async function* followPages(
  app: App,
  after: number,
  signal: AbortSignal,
  { afterWakeMs, afterReadMs } = DEFAULT_DELAYS,
): AsyncGenerator<StoreEvent[]> {
  const { setTimeout: sleep } = await import('node:timers/promises');
  for (let last = after; ; ) {
    // The watch starts before the read, so that no event is missed. It is closed during the delay, because wake-ups are costly.
    const watch = watchChanges(app, { timeoutMs: null, signal });
    let page: StoreEvent[];
    try {
      page = await app.store.events(last, EVENTS_PER_PAGE);
      signal.throwIfAborted();
      if (page.length === 0) await watch.next();
    } finally {
      watch.close();
    }
    if (page.length > 0) yield page;
    last = page.at(-1)?.number ?? last;
    const delayMs = page.length === 0 ? afterWakeMs : afterReadMs;
    if (page.length < EVENTS_PER_PAGE && delayMs > 0)
      await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
