import { signal } from '@preact/signals';
import { call, Problem } from './api.ts';
import { token } from './token.ts';
import type { StoreEvent } from './types.ts';

/** What happened since the last redraw. */
export interface Batch {
  events: StoreEvent[];
  /** Too much to look at one by one, or we were away: read everything again. */
  all: boolean;
}

export type Connection = 'connecting' | 'live' | 'away' | 'store-away';

export const connection = signal<Connection>('connecting');
/** The user stopped the page from changing under their eyes. */
export const paused = signal(false);

const REDRAW_MS = 500;
const SOON_MS = 50;
const MOST_EVENTS = 500;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

type Listener = (batch: Batch) => void;
const listeners = new Set<Listener>();
let waiting: StoreEvent[] = [];
let all = false;
let scheduled = false;
let last: string | null = null;
let stop = new AbortController();

export function onBatch(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Everybody reads again. */
export function refresh(): void {
  all = true;
  schedule();
}

/** The stream brings something twice a second at most; what comes at once is drawn at once. */
function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  setTimeout(flush, SOON_MS);
}

function flush(): void {
  scheduled = false;
  if (paused.value || document.hidden) return;
  const batch = { events: waiting, all };
  waiting = [];
  all = false;
  for (const listener of listeners) listener(batch);
}

function take({ events, missed }: { events: StoreEvent[]; missed: number }): void {
  if (waiting.length < MOST_EVENTS) waiting.push(...events);
  else all = true;
  if (missed > 0) all = true;
  schedule();
}

/** One stream for the whole page; it comes back by itself and goes on where it was. */
export async function startLive(): Promise<void> {
  document.addEventListener('visibilitychange', () => {
    // A tab that nobody sees costs the server nothing; what it missed is read when it is seen again.
    if (document.hidden) stop.abort();
    else refresh();
  });
  paused.subscribe((is) => {
    if (!is) refresh();
  });
  let wait = FIRST_WAIT_MS;
  for (;;) {
    if (document.hidden) await shown();
    if (token.value !== null) {
      try {
        await readStream(() => {
          wait = FIRST_WAIT_MS;
        });
      } catch (error) {
        if ((error as Error).name !== 'AbortError') lost(error);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(LONGEST_WAIT_MS, wait * 2);
  }
}

function lost(error: unknown): void {
  const answered = error instanceof Problem && error.status > 0;
  connection.value = answered && error.status !== 401 ? 'store-away' : 'away';
}

const shown = (): Promise<void> =>
  new Promise((resolve) => document.addEventListener('visibilitychange', () => resolve(), { once: true }));

async function readStream(opened: () => void): Promise<void> {
  stop = new AbortController();
  const headers: Record<string, string> = last === null ? {} : { 'last-event-id': last };
  const response = await call('GET', `/events?every=${REDRAW_MS}`, { headers, signal: stop.signal });
  opened();
  const back = connection.value !== 'live';
  connection.value = 'live';
  if (back) refresh();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Problem(0, 'server-away', 'the stream ended');
    const parts = (rest + value).split('\n\n');
    rest = parts.pop()!;
    for (const one of parts) readEvent(one);
  }
}

function readEvent(text: string): void {
  for (const line of text.split('\n')) {
    if (line.startsWith('id: ')) last = line.slice(4);
    else if (line.startsWith('data: ')) take(JSON.parse(line.slice(6)));
  }
}
