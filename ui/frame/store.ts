import { computed, effect, signal } from '@preact/signals';
import { type ByState, type Queue, type ServerInfo, STATES } from '../types.ts';
import { get } from './api.ts';
import { onBatch } from './live.ts';
import { session } from './session.ts';
import { readFailed, readWorked } from './store-away.ts';

/** Data that every page uses. All other data belongs to the page that reads it. */
export const server = signal<ServerInfo | null>(null);
export const queues = signal<Queue[] | null>(null);
export const readOnly = computed(() => server.value?.read_only ?? false);
export const counts = computed<ByState | null>(() => queues.value && sumOf(queues.value));

/** The current time. It advances only while the page is visible. */
export const now = signal(Date.now());

/** True if times are shown in UTC instead of local time. */
export const utc = signal(localStorage.getItem('queuectl-utc') === 'yes');

export function toggleUtc(): void {
  utc.value = !utc.value;
  localStorage.setItem('queuectl-utc', utc.value ? 'yes' : 'no');
}

const GAP_MS = 1000;

export function sumOf(some: Queue[]): ByState {
  const sum = Object.fromEntries(STATES.map((state) => [state, 0])) as ByState;
  for (const queue of some) for (const state of STATES) sum[state] += queue.jobs[state];
  return sum;
}

export function startStore(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, 1000);
  let of: string | null = null;
  /** Reads the rights, which belong to the session, once per session. */
  const readServer = async (): Promise<void> => {
    const mine = session.value;
    if (mine === of) return;
    server.value = await get<ServerInfo>('/server');
    of = mine;
  };
  let busy = false;
  let wanted = false;
  const read = async (): Promise<void> => {
    wanted = true;
    if (busy || session.value === null) return;
    busy = true;
    while (wanted) {
      wanted = false;
      try {
        await readServer();
        queues.value = await get<Queue[]>('/queues');
        readWorked();
      } catch (error) {
        readFailed(error as never);
      }
      await new Promise((resolve) => setTimeout(resolve, GAP_MS));
    }
    busy = false;
  };
  onBatch(() => void read());
  effect(() => {
    if (session.value !== null) void read();
  });
}
