import type { App } from '../actions/app.ts';
import { followPages, lastEvent, readEvents } from '../actions/events.ts';
import { pause } from '../core/clock.ts';
import { toEventObject } from '../core/event-object.ts';
import type { StoreEvent } from '../core/events.ts';
import { masked } from '../core/mask.ts';

/** The feed keeps this many of the newest events. A stream that is further behind reads from the store. */
const REMEMBERED = 2000;
const PAGE = 500;
/** Events of this time are sent together, because reading and sending them one by one is expensive in a busy store. */
const PACE = { soonMs: 50, calmMs: 250 };
export const RETRY_MS = 1000;
/** A batch has at most this many events, and the number of the others. */
const MOST_TOLD = 200;

/** Holds the newest events of a store, which are read and serialized once for all streams of a server. */
export interface EventFeed {
  readonly app: App;
  /** Aborted when the server closes. */
  readonly signal: AbortSignal;
  onError(error: unknown): void;
  /** Is called before any stream gets new events. */
  onNews(): void;
  /** Functions that are called when there are new events. */
  readonly waiting: Set<() => void>;
  readonly recent: EventChunk[];
  newest: { number: number; text: string }[];
  /** The number of the last event that was read. */
  position: number;
  running: Promise<void> | null;
}

/** Consecutive events, serialized for all streams. */
export interface EventChunk {
  after: number;
  last: number;
  bytes: Uint8Array;
}

/** Starts reading events, unless the feed is already reading. */
export function startFeed(feed: EventFeed): Promise<void> {
  const start = async (): Promise<void> => {
    feed.position = await lastEvent(feed.app);
    void follow(feed);
  };
  feed.running ??= start().catch((error) => {
    feed.running = null;
    throw error;
  });
  return feed.running;
}

async function follow(feed: EventFeed): Promise<void> {
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
  const texts = events.map((event) => ({ number: event.number, text: textOf(event) }));
  const { number } = texts.at(-1)!;
  recent.push({ after: feed.position, last: number, bytes: worded(events, texts) });
  feed.position = number;
  feed.newest = [...feed.newest, ...texts].slice(-MOST_TOLD);
  while (feed.position - recent[0]!.after > REMEMBERED && recent.length > 1) recent.shift();
  feed.onNews();
  for (const wake of feed.waiting) wake();
}

/** Returns events after event `after`, each as a message of its own, or null if there are none yet. */
export async function nextEvents(feed: EventFeed, after: number): Promise<EventChunk | null> {
  const { app, position, recent } = feed;
  if (after >= position) return null;
  const known = recent.find((one) => one.after === after);
  if (known !== undefined) return known;
  const page: StoreEvent[] = [];
  const last = Math.min(position, after + PAGE);
  for await (const event of readEvents(app, after, last, {})) page.push(event);
  // The events in this range have been pruned.
  if (page.length === 0) return { after, last, bytes: new Uint8Array() };
  return { after, last: page.at(-1)!.number, bytes: worded(page) };
}

/**
 * Returns the events after event `after` as one message, or null if there are none yet. It waits `everyMs` for more. The
 * message contains the newest events and the number of the others.
 */
export async function nextBatch(feed: EventFeed, after: number, everyMs: number): Promise<EventChunk | null> {
  if (after >= feed.position) return null;
  await pause(everyMs);
  const { app, newest, position: last } = feed;
  const from = Math.max(after, last - MOST_TOLD);
  const texts: string[] = [];
  if ((newest[0]?.number ?? last) <= from + 1)
    texts.push(...newest.filter(({ number }) => number > from && number <= last).map(({ text }) => text));
  else for await (const event of readEvents(app, from, last, {})) texts.push(textOf(event));
  return { after, last, bytes: Buffer.from(batch(last, texts, from - after)) };
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
