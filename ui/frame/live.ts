import { signal } from '@preact/signals';
import { growingPause } from '../../src/core/time/clock.ts';
import type { StoreEvent } from '../types.ts';
import { SHARED } from '../words/shared.ts';
import { call, Problem } from './api.ts';
import { MOUNT } from './mount.ts';
import { session } from './session.ts';

/** The events since the last redraw. */
export interface Batch {
  events: StoreEvent[];
  /** Everything has to be read again, because there were too many events or some were missed. */
  all: boolean;
}

/** The state of the connection. With `polling`, there is no stream, and everything is read again every few seconds. */
export type Connection = 'connecting' | 'live' | 'polling' | 'away' | 'store-away';

export const connection = signal<Connection>('connecting');
/** True if the user paused live updates. */
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
let refreshAsked = false;
let scheduled = false;
let last: string | null = null;
let stop = new AbortController();

export function onBatch(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Reads everything again, even while updates are paused, because the user did something and wants to see it. */
export function refresh(): void {
  refreshAsked = true;
  readAll();
}

function readAll(): void {
  all = true;
  schedule();
}

/** Delivers the batch shortly, so that events that arrive together are drawn together. */
function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  setTimeout(flush, SOON_MS);
}

function flush(): void {
  scheduled = false;
  if ((paused.value && !refreshAsked) || document.hidden) return;
  const batch = { events: waiting, all };
  waiting = [];
  all = false;
  refreshAsked = false;
  for (const listener of listeners) listener(batch);
}

/** A message of the event stream. */
interface StreamMessage {
  events: StoreEvent[];
  missed: number;
}

function addEvents({ events, missed }: StreamMessage): void {
  if (waiting.length < MOST_EVENTS) waiting.push(...events);
  else all = true;
  if (missed > 0) all = true;
  schedule();
}

/** The tab that holds this lock reads the stream for all tabs of this browser. */
const LOCK = `queuectl-live ${MOUNT}`;
const otherTabs = new BroadcastChannel(LOCK);

/** A message between tabs: the state of the connection, a batch of events, or the arrival of a new tab. */
type TabMessage = { state: Connection } | { batch: StreamMessage; last: string | null } | 'hello';

let leading = false;

function onTabMessage(message: TabMessage): void {
  if (message === 'hello') {
    if (leading) otherTabs.postMessage({ state: connection.value });
  } else if ('state' in message) setConnection(message.state);
  else {
    last = message.last;
    addEvents(message.batch);
  }
}

/** Sets the state of the connection. After a reconnect everything may have changed, so it is read again. */
function setConnection(state: Connection): void {
  const back = state === 'live' && connection.value !== 'live';
  connection.value = state;
  if (back || state === 'polling') readAll();
  if (leading) otherTabs.postMessage({ state });
}

/** Reads one event stream for all tabs. A visible tab reads it, and hands it over when it is hidden. */
export async function startLive(): Promise<void> {
  document.addEventListener('visibilitychange', () => {
    // A hidden tab costs the server nothing. It reads what it missed when it is visible again.
    if (document.hidden) stop.abort();
    else readAll();
  });
  paused.subscribe((is) => {
    if (!is) readAll();
  });
  otherTabs.onmessage = ({ data }) => onTabMessage(data);
  otherTabs.postMessage('hello');
  for (;;) {
    if (document.hidden) await untilVisible(true);
    stop = new AbortController();
    // Locks exist only in a secure context. Elsewhere every tab reads its own stream.
    if (navigator.locks === undefined) await lead();
    else await navigator.locks.request(LOCK, { signal: stop.signal }, lead).catch(() => {});
    await sleep(SOON_MS);
  }
}

async function lead(): Promise<void> {
  leading = true;
  let failures = 0;
  while (!document.hidden) {
    if (session.value !== null) {
      try {
        await readStream(() => {
          failures = 0;
        });
      } catch (error) {
        if ((error as Error).name !== 'AbortError') setConnection(connectionAfter(error));
      }
    }
    const waitMs = growingPause(failures++, FIRST_WAIT_MS, LONGEST_WAIT_MS);
    await Promise.race([sleep(waitMs), untilVisible(false)]);
  }
  leading = false;
}

function connectionAfter(error: unknown): Connection {
  if (!(error instanceof Problem) || session.value === null) return 'away';
  return error.away ?? 'polling';
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when the tab is visible, or hidden. */
const untilVisible = (wanted: boolean): Promise<void> =>
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
  setConnection('live');
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
      otherTabs.postMessage({ batch, last });
      addEvents(batch);
    }
  }
}
