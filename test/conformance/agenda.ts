import type { Agenda } from '../../src/store/contract/claims.ts';
import type { Store } from '../../src/store/store.ts';

// These functions return one part of a worker's agenda.

const NO_QUEUES: string[] = [];

export const nextDue = async (store: Store, queues: string[] | null, now: number): Promise<number | null> =>
  (await store.agenda('w1', queues, now)).nextDue;

export const nextTick = async (store: Store): Promise<number | null> =>
  (await store.agenda('w1', NO_QUEUES, 0)).nextTick;

export const stopOrderOf = async (store: Store, workerId: string): Promise<Agenda['order']> =>
  (await store.agenda(workerId, NO_QUEUES, 0)).order;

export const wishes = async (store: Store, workerId: string): Promise<Agenda['wishes']> =>
  (await store.agenda(workerId, NO_QUEUES, 0)).wishes;
