import { signal } from '@preact/signals';
import { call, Problem } from './api.ts';
import { MOUNT } from './mount.ts';
import { session } from './session.ts';
import type { StoreEvent } from './types.ts';
import { SHARED } from './words/shared.ts';

/** What happened since the last redraw. */
export interface Batch {
  events: StoreEvent[];
  /** Too much to look at one by one, or we were away: read everything again. */
  all: boolean;
}

/** `polling`: there is no stream for us, so that everything is read again every few seconds. */
export type Connection = 'connecting' | 'live' | 'polling' | 'away' | 'store-away';

export const connection = signal<Connection>('connecting');
/** The user stopped the page from changing under their eyes. */
export const paused = signal(false);

const REDRAW_MS = 500;
const SOON_MS = 50;
const MOST_EVENTS = 500;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 4000;

type Listener = (batch: Batch) => void;
const listeners = new Set<Listener>();
let waiting: StoreEvent[] = [];
let all = false;
let asked = false;
let scheduled = false;
let last: string | null = null;
let stop = new AbortController();

export function onBatch(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Everybody reads again, also while the page is paused: somebody here did something, and wants to see it. */
export function refresh(): void {
  asked = true;
  readAll();
}

function readAll(): void {
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
  if ((paused.value && !asked) || document.hidden) return;
  const batch = { events: waiting, all };
  waiting = [];
  all = false;
  asked = false;
  for (const listener of listeners) listener(batch);
}

/** As the stream tells it. */
interface Told {
  events: StoreEvent[];
  missed: number;
}

function take({ events, missed }: Told): void {
  if (waiting.length < MOST_EVENTS) waiting.push(...events);
  else all = true;
  if (missed > 0) all = true;
  schedule();
}

/** Whoever holds it reads the stream for all tabs of this browser. */
const LOCK = `queuectl-live ${MOUNT}`;
const others = new BroadcastChannel(LOCK);

/** What a tab tells the others: how it stands, what came, or that it is new here. */
type Word = { state: Connection } | { batch: Told; last: string | null } | 'hello';

let leading = false;

function heard(word: Word): void {
  if (word === 'hello') {
    if (leading) others.postMessage({ state: connection.value });
  } else if ('state' in word) stand(word.state);
  else {
    last = word.last;
    take(word.batch);
  }
}

/** Back after a while, everything may have changed. */
function stand(state: Connection): void {
  const back = state === 'live' && connection.value !== 'live';
  connection.value = state;
  if (back || state === 'polling') readAll();
  if (leading) others.postMessage({ state });
}

/** One stream for all tabs: one that is seen reads it, and hands it on when nobody looks at it any more. */
export async function startLive(): Promise<void> {
  document.addEventListener('visibilitychange', () => {
    // A tab that nobody sees costs the server nothing; what it missed is read when it is seen again.
    if (document.hidden) stop.abort();
    else readAll();
  });
  paused.subscribe((is) => {
    if (!is) readAll();
  });
  others.onmessage = ({ data }) => heard(data);
  others.postMessage('hello');
  for (;;) {
    if (document.hidden) await seen(true);
    stop = new AbortController();
    // Only there where the address is a safe one; elsewhere every tab reads for itself.
    if (navigator.locks === undefined) await lead();
    else await navigator.locks.request(LOCK, { signal: stop.signal }, lead).catch(() => {});
    await asleep(SOON_MS);
  }
}

async function lead(): Promise<void> {
  leading = true;
  let wait = FIRST_WAIT_MS;
  while (!document.hidden) {
    if (session.value !== null) {
      try {
        await readStream(() => {
          wait = FIRST_WAIT_MS;
        });
      } catch (error) {
        if ((error as Error).name !== 'AbortError') stand(lost(error));
      }
    }
    await Promise.race([asleep(wait), seen(false)]);
    wait = Math.min(LONGEST_WAIT_MS, wait * 2);
  }
  leading = false;
}

function lost(error: unknown): Connection {
  if (!(error instanceof Problem) || session.value === null) return 'away';
  return error.away ?? 'polling';
}

const asleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** When the tab is seen, or is not. */
const seen = (wanted: boolean): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (document.hidden === wanted) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
  });

async function readStream(opened: () => void): Promise<void> {
  stop = new AbortController();
  const headers: Record<string, string> = last === null ? {} : { 'last-event-id': last };
  const response = await call('GET', `/events?every=${REDRAW_MS}`, { headers, signal: stop.signal });
  opened();
  stand('live');
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Problem(0, 'server-away', SHARED.streamEnded);
    const parts = (rest + value).split('\n\n');
    rest = parts.pop()!;
    for (const one of parts) readEvent(one);
  }
}

function readEvent(text: string): void {
  for (const line of text.split('\n')) {
    if (line.startsWith('id: ')) last = line.slice(4);
    else if (line.startsWith('data: ')) {
      const batch = JSON.parse(line.slice(6));
      others.postMessage({ batch, last });
      take(batch);
    }
  }
}
