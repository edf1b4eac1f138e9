import type { EventKind, NewEvent, StoreEvent } from '../core/events.ts';
import type { App } from './app.ts';
import { startWaiting } from './waiting.ts';

const PAGE = 1000;
/** Should a wake-up get lost, a look this often finds out. */
const SAFETY_MS = 1000;

/** Which events are meant; what is not given sets no limit. */
export interface EventFilter {
  kinds?: EventKind[];
  jobId?: string;
  queue?: string;
  /** How the name of who did it begins. */
  actor?: string;
}

function matches({ kind, jobId, queue, actor }: StoreEvent, filter: EventFilter): boolean {
  return (
    (filter.kinds === undefined || filter.kinds.includes(kind)) &&
    (filter.jobId === undefined || filter.jobId === jobId) &&
    (filter.queue === undefined || filter.queue === queue) &&
    (filter.actor === undefined || actor?.startsWith(filter.actor) === true)
  );
}

export const lastEvent = (app: App): Promise<number> => app.store.lastEvent();
export const lastEventBefore = (app: App, at: number): Promise<number> => app.store.lastEventBefore(at);
/** Adds an event that belongs to no job. */
export const noteEvent = (app: App, event: NewEvent): Promise<void> => app.store.note(event);

/** What is there behind event `after`, up to event `to`. */
export async function* readEvents(
  app: App,
  after: number,
  to: number,
  filter: EventFilter,
): AsyncGenerator<StoreEvent> {
  for (let last = after; last < to; ) {
    const page = await app.store.events(last, Math.min(PAGE, to - last));
    for (const event of page) if (event.number <= to && matches(event, filter)) yield event;
    if (page.length === 0) return;
    last = page.at(-1)!.number;
  }
}

/** The number behind which the last `many` that match up to event `to` begin: looked for from the end, page by page. */
export async function beforeLast(app: App, many: number, to: number, filter: EventFilter): Promise<number> {
  let found = 0;
  for (let end = to; end > 0 && found < many; end -= PAGE) {
    const page = await app.store.events(Math.max(0, end - PAGE), Math.min(PAGE, end));
    const mine = page.filter((event) => event.number <= end);
    // What is older has been pruned.
    if (mine.length === 0) break;
    for (const event of mine.reverse()) {
      if (matches(event, filter) && ++found === many) return event.number - 1;
    }
  }
  return many === 0 ? to : 0;
}

/** A look backwards goes through so many events, whatever it finds. */
const LOOKED = 10 * PAGE;

/** The last `many` that match up to event `to`, newest first; `next`: where to go on with what is older, 0: nowhere. */
export async function lastEvents(
  app: App,
  many: number,
  to: number,
  filter: EventFilter,
): Promise<{ events: StoreEvent[]; next: number }> {
  if (filter.jobId !== undefined) return lastEventsOfJob(app, filter.jobId, many, to, filter);
  const events: StoreEvent[] = [];
  const floor = Math.max(0, to - LOOKED);
  for (let end = to; end > floor; end -= PAGE) {
    const page = await app.store.events(Math.max(0, end - PAGE), Math.min(PAGE, end));
    const mine = page.filter((event) => event.number <= end);
    // What is older has been pruned.
    if (mine.length === 0) return { events, next: 0 };
    for (const event of mine.reverse())
      if (matches(event, filter) && events.push(event) === many) return { events, next: event.number - 1 };
  }
  return { events, next: floor };
}

/** The store finds those of one job without handing out the others: so many, for so long, a stretch at a time. */
const LOOKED_FOR_JOB = 200_000;
const STRETCH = 20_000;
const PATIENCE_MS = 15;

async function lastEventsOfJob(
  app: App,
  id: string,
  many: number,
  to: number,
  filter: EventFilter,
): Promise<{ events: StoreEvent[]; next: number }> {
  const floor = Math.max(0, to - LOOKED_FOR_JOB);
  const until = app.clock.monotonic() + PATIENCE_MS;
  const found: StoreEvent[] = [];
  let end = to;
  while (end > floor && found.length < many) {
    const from = Math.max(floor, end - STRETCH);
    found.push(...(await app.store.eventsOfJob(id, from, end, many - found.length)));
    end = from;
    if (app.clock.monotonic() > until) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const next = found.length === many ? found.at(-1)!.number - 1 : end;
  return { events: found.filter((event) => matches(event, filter)), next };
}

/** Whatever happens behind event `after`, each once and in order, for ever; `signal` ends it, and its reason is thrown. */
export async function* followEvents(
  app: App,
  after: number,
  filter: EventFilter,
  signal: AbortSignal,
): AsyncGenerator<StoreEvent> {
  for await (const page of followPages(app, after, signal))
    for (const event of page) if (matches(event, filter)) yield event;
}

/** How long one who follows lets things gather: after it was woken, and after it has read something. */
interface Pace {
  soonMs: number;
  calmMs: number;
}

/** On a busy queue something happens all the time: a look every so often is soon enough. */
const AT_ONCE = { soonMs: 0, calmMs: 20 };

/** The same as it is read: what happens together comes together. */
export async function* followPages(
  app: App,
  after: number,
  signal: AbortSignal,
  { soonMs, calmMs }: Pace = AT_ONCE,
): AsyncGenerator<StoreEvent[]> {
  for (let last = after; ; ) {
    // Before the look, so that nothing is missed, and not while it rests: on a busy queue being woken costs more than reading.
    const waiting = startWaiting(app, { timeoutMs: null, signal });
    let page: StoreEvent[];
    try {
      page = await app.store.events(last, PAGE);
      signal.throwIfAborted();
      if (page.length === 0) await waiting.next(SAFETY_MS);
    } finally {
      waiting.close();
    }
    if (page.length > 0) yield page;
    last = page.at(-1)?.number ?? last;
    if (page.length < PAGE) await asleep(page.length === 0 ? soonMs : calmMs, signal);
  }
}

/** The reason of the signal is thrown. */
async function asleep(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
  signal.throwIfAborted();
}
