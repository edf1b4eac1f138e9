import type { EventKind, StoreEvent } from '../core/events.ts';
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

/** The store finds those of one job without handing out the others. */
const LOOKED_FOR_JOB = 200_000;

async function lastEventsOfJob(
  app: App,
  id: string,
  many: number,
  to: number,
  filter: EventFilter,
): Promise<{ events: StoreEvent[]; next: number }> {
  const floor = Math.max(0, to - LOOKED_FOR_JOB);
  const found = await app.store.eventsOfJob(id, floor, to, many);
  const next = found.length === many ? found.at(-1)!.number - 1 : floor;
  return { events: found.filter((event) => matches(event, filter)), next };
}

/** Whatever happens behind event `after`, each once and in order, for ever; `signal` ends it, and its reason is thrown. */
export async function* followEvents(
  app: App,
  after: number,
  filter: EventFilter,
  signal: AbortSignal,
): AsyncGenerator<StoreEvent> {
  const waiting = startWaiting(app, { timeoutMs: null, signal });
  try {
    for (let last = after; ; ) {
      const page = await app.store.events(last, PAGE);
      for (const event of page) if (matches(event, filter)) yield event;
      last = page.at(-1)?.number ?? last;
      signal.throwIfAborted();
      if (page.length < PAGE) await waiting.next(SAFETY_MS);
    }
  } finally {
    waiting.close();
  }
}
