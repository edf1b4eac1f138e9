import { randomBytes } from 'node:crypto';
import type { App } from '../actions/app.ts';
import type { JobActionResult } from '../actions/jobs/act.ts';
import { JOB_ACTIONS, type JobAction, type JobVerb } from '../actions/jobs/job-actions.ts';
import { cancelledWith } from '../actions/jobs/jobs.ts';
import { QueueError } from '../core/errors.ts';
import type { NewEvent } from '../core/rules/events.ts';
import { pause } from '../core/time/clock.ts';
import { toIso } from '../core/time/time.ts';
import type { OperationObject, OperationPreview } from '../core/wire/wire.ts';

/** The work of one bulk action. */
export interface Work {
  /** The ids of the jobs, in pages. */
  ids: AsyncIterable<string[]>;
  act(ids: string[]): Promise<JobActionResult>;
  /** Adds an event to the store's log, for the start and the end of the bulk action. */
  record(event: NewEvent): Promise<void>;
  /** The maximum number of jobs. */
  limit: number;
  /** The maximum number of jobs changed per second. Null means no limit. */
  perSecond: number | null;
}

/** The maximum number of jobs per batch. A stop takes effect after a batch. */
const BATCH_SIZE = 200;
/** Beyond this many bulk actions, the oldest that have ended are forgotten. */
const MAX_KEPT = 100;
/** The maximum number of running bulk actions, because each keeps its ids in memory. */
const MAX_RUNNING = 16;
const CLOSE_TIMEOUT_MS = 3000;

interface Operation extends OperationObject {
  stopping: boolean;
  /** The other jobs that were cancelled so far, because they depended on the changed ones. */
  dependents: Set<string>;
}

export type Operations = ReturnType<typeof createOperations>;

/** Creates the bulk actions of a server. They run in the background and can be watched and stopped. They end with the server. */
export function createOperations(now: () => number) {
  const operations = new Map<string, Operation>();
  const runningWork = new Set<Promise<void>>();
  const find = (id: string): Operation => {
    const found = operations.get(id);
    if (found === undefined) throw new QueueError('operation-not-found', 'there is no such bulk action');
    return found;
  };
  return {
    /** Starts a bulk action. It reads the ids of all jobs before it acts, because acting may change which jobs match. */
    start(action: string, work: Work): OperationObject {
      if ([...operations.values()].filter(({ state }) => state === 'running').length >= MAX_RUNNING)
        throw new QueueError(
          'too-many-operations',
          `${MAX_RUNNING} bulk actions are already running; try again in 1s`,
          undefined,
          { retryAfterS: 1 },
        );
      const operation = newOperation(action, now());
      operations.set(operation.id, operation);
      for (const old of operations.keys()) {
        if (operations.size <= MAX_KEPT) break;
        if (operations.get(old)!.state !== 'running') operations.delete(old);
      }
      const finished = run(operation, work, now).finally(() => runningWork.delete(finished));
      runningWork.add(finished);
      return toOperationObject(operation);
    },
    list: (): OperationObject[] => [...operations.values()].toReversed().map(toOperationObject),
    get: (id: string): OperationObject => toOperationObject(find(id)),
    /** Stops a bulk action. Jobs that were already changed stay changed. */
    stop(id: string): OperationObject {
      const operation = find(id);
      if (operation.state === 'running') operation.stopping = true;
      return toOperationObject(operation);
    },
    /** Stops all bulk actions. Resolves when they have stopped, or after CLOSE_TIMEOUT_MS. */
    async close(): Promise<void> {
      for (const operation of operations.values()) operation.stopping = true;
      await Promise.race([Promise.all(runningWork), pause(CLOSE_TIMEOUT_MS)]);
    },
  };
}

function newOperation(action: string, now: number): Operation {
  return {
    id: randomBytes(8).toString('hex'),
    action,
    state: 'running',
    total: 0,
    done: 0,
    changed: 0,
    unchanged: 0,
    skipped: 0,
    also_cancelled: 0,
    started_at: toIso(now),
    finished_at: null,
    error: null,
    stopping: false,
    dependents: new Set(),
  };
}

function toOperationObject({ stopping: _, dependents: __, ...operation }: Operation): OperationObject {
  return operation;
}

/** Carries out a bulk action and records its start and its end. */
async function run(operation: Operation, work: Work, now: () => number): Promise<void> {
  const eventFields = { operation: operation.id, action: operation.action };
  try {
    const ids = await collectIds(operation, work);
    await work.record({ kind: 'operation-begun', detail: { ...eventFields, jobs: ids.length } });
    await actOnAll(operation, work, ids);
    operation.state = operation.stopping ? 'stopped' : 'done';
  } catch (error) {
    operation.state = 'failed';
    operation.error = error instanceof QueueError ? error.message : 'internal error';
  }
  operation.finished_at = toIso(now());
  const { state, done: jobs, changed } = operation;
  // An unavailable store is ignored here, because clients read the result from this server.
  await work
    .record({ kind: 'operation-ended', detail: { ...eventFields, state, jobs, changed } })
    .catch(() => {});
}

async function collectIds(operation: Operation, { ids: pages, limit }: Work): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of pages) {
    for (const id of page.slice(0, limit - ids.length)) ids.push(id);
    operation.total = ids.length;
    if (operation.stopping || ids.length === limit) break;
    await letOthersRun();
  }
  return ids;
}

async function actOnAll(operation: Operation, { act, perSecond }: Work, ids: string[]): Promise<void> {
  const size = Math.min(BATCH_SIZE, perSecond ?? BATCH_SIZE);
  for (let at = 0; at < ids.length && !operation.stopping; at += size) {
    const batch = ids.slice(at, at + size);
    const result = await act(batch);
    countResult(operation, batch, result);
    await letOthersRun();
    if (perSecond !== null && operation.done < ids.length) await pause((size / perSecond) * 1000);
  }
}

/** Adds the result of a batch. A job that an earlier batch cancelled with its parent counts as changed. */
function countResult(operation: Operation, batch: string[], result: JobActionResult): void {
  const { dependents } = operation;
  for (const id of result.alsoCancelled ?? []) dependents.add(id);
  const changed = new Set([...result.changed, ...(result.ending ?? [])]);
  for (const id of batch) if (dependents.delete(id)) changed.add(id);
  operation.done += batch.length;
  operation.changed += changed.size;
  operation.unchanged += batch.length - changed.size;
  operation.skipped += result.skippedAtMostOnce?.length ?? 0;
  operation.also_cancelled = dependents.size;
}

/** Resolves after the server had a chance to handle other requests. */
function letOthersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A preview reads at most this many jobs, so that it is fast. */
const MAX_PREVIEWED = 10_000;
/** Other requests are served after this many jobs. */
const PREVIEW_BATCH_SIZE = 500;

/** Counts the jobs that a bulk action would act on, and the other jobs that it would cancel. */
export async function previewOperation(
  app: App,
  action: string,
  { ids: pages, limit }: { ids: AsyncIterable<string[]>; limit: number },
): Promise<OperationPreview> {
  const ids: string[] = [];
  const most = Math.min(limit, MAX_PREVIEWED);
  let capped = false;
  for await (const page of pages) {
    capped = page.length > most - ids.length && limit > most;
    ids.push(...page.slice(0, most - ids.length));
    if (ids.length === most) break;
    await letOthersRun();
  }
  const dependents = new Set<string>();
  const { end } = JOB_ACTIONS[action as JobVerb] as JobAction;
  for (let at = 0; end !== undefined && at < ids.length; at += PREVIEW_BATCH_SIZE) {
    for (const id of await cancelledWith(app, ids.slice(at, at + PREVIEW_BATCH_SIZE), end, MAX_PREVIEWED))
      dependents.add(id);
    if (dependents.size >= MAX_PREVIEWED) {
      capped = true;
      break;
    }
    await letOthersRun();
  }
  for (const id of ids) dependents.delete(id);
  return { total: ids.length, also_cancelled: dependents.size, capped };
}
