import { randomBytes } from 'node:crypto';
import type { Acted } from '../actions/act.ts';
import { pause } from '../core/clock.ts';
import { QueueError } from '../core/errors.ts';
import type { Happening } from '../core/events.ts';
import { toIso } from '../core/time.ts';
import type { OperationObject } from '../core/wire.ts';

/** On how many at all, and how fast. */
export interface Pace {
  limit: number;
  perSecond: number | null;
}

/** Actions on many jobs, which take their time and can be watched and stopped. Kept as long as the server runs. */
export interface Operations {
  /** The ids may come bit by bit; what acts begins when all are known, or it would meet its own work. */
  start(
    action: string,
    ids: AsyncIterable<string[]>,
    act: (ids: string[]) => Promise<Acted>,
    /** Told how it begins and how it ends. */
    tell: (happening: Happening) => Promise<void>,
    pace?: Pace,
  ): OperationObject;
  list(): OperationObject[];
  get(id: string): OperationObject;
  /** What was done stays done. */
  stop(id: string): OperationObject;
  /** Stops them all; resolves when they have, or soon. */
  close(): Promise<void>;
}

/** So many jobs between two looks at whether to go on. */
const BATCH = 200;
const REMEMBERED = 100;
/** Each keeps its ids in memory. */
const MOST_RUNNING = 16;
const CLOSE_MS = 3000;

export function createOperations(now: () => number): Operations {
  const all = new Map<string, OperationObject & { stopping: boolean }>();

  const running = new Set<Promise<void>>();

  const shown = ({
    stopping: _,
    ...operation
  }: OperationObject & { stopping: boolean }): OperationObject => ({
    ...operation,
  });

  const find = (id: string) => {
    const found = all.get(id);
    if (found === undefined) throw new QueueError('operation-not-found', 'there is no such operation');
    return found;
  };

  return {
    start(
      action,
      found,
      act,
      tell,
      { limit, perSecond } = { limit: Number.POSITIVE_INFINITY, perSecond: null },
    ) {
      if ([...all.values()].filter(({ state }) => state === 'running').length >= MOST_RUNNING)
        throw new QueueError(
          'too-many-operations',
          `${MOST_RUNNING} operations are running; try again in 1 s`,
        );
      const operation: OperationObject & { stopping: boolean } = {
        ...{ id: randomBytes(8).toString('hex'), action, state: 'running', total: 0 },
        ...{
          done: 0,
          changed: 0,
          unchanged: 0,
          skipped: 0,
          started_at: toIso(now()),
          finished_at: null,
          error: null,
        },
        stopping: false,
      };
      all.set(operation.id, operation);
      for (const old of all.keys()) {
        if (all.size <= REMEMBERED) break;
        if (all.get(old)!.state !== 'running') all.delete(old);
      }
      const run = async (): Promise<void> => {
        const named = { operation: operation.id, action };
        try {
          const ids: string[] = [];
          for await (const some of found) {
            for (const id of some.slice(0, limit - ids.length)) ids.push(id);
            operation.total = ids.length;
            if (operation.stopping || ids.length === limit) break;
            await turn();
          }
          await tell({ kind: 'operation-begun', detail: { ...named, jobs: ids.length } });
          const size = Math.min(BATCH, perSecond ?? BATCH);
          for (let at = 0; at < ids.length && !operation.stopping; at += size) {
            const batch = ids.slice(at, at + size);
            const acted = await act(batch);
            operation.done += batch.length;
            const changed = acted.changed.length + (acted.ending?.length ?? 0);
            operation.changed += changed;
            operation.unchanged += batch.length - changed;
            operation.skipped += acted.skipped?.length ?? 0;
            await turn();
            if (perSecond !== null && operation.done < ids.length) await asleep((size / perSecond) * 1000);
          }
          operation.state = operation.stopping ? 'stopped' : 'done';
        } catch (error) {
          operation.state = 'failed';
          operation.error = error instanceof QueueError ? error.message : 'something went wrong';
        }
        operation.finished_at = toIso(now());
        const { state, done: jobs, changed } = operation;
        // Who began it is told how it ended by asking; others only where there is a store to tell.
        await tell({ kind: 'operation-ended', detail: { ...named, state, jobs, changed } }).catch(() => {});
      };
      const over = run().finally(() => running.delete(over));
      running.add(over);
      return shown(operation);
    },
    list: () => [...all.values()].toReversed().map(shown),
    get: (id) => shown(find(id)),
    async close() {
      for (const operation of all.values()) operation.stopping = true;
      await Promise.race([Promise.all(running), pause(CLOSE_MS)]);
    },
    stop(id) {
      const operation = find(id);
      if (operation.state === 'running') operation.stopping = true;
      return shown(operation);
    },
  };
}

/** No reason for the process to stay. */
function asleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Others are to be served meanwhile. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
