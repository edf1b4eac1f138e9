import type { App } from '../actions/app.ts';
import { presence } from '../actions/workers.ts';
import type { ClaimedJob } from '../core/job.ts';
import { isOutOfSight } from '../exec/lifeline.ts';
import { placeOf } from '../state/place.ts';
import type { Host, Worker } from '../store/contract/workers.ts';
import type { Adoption } from './attempt.ts';

/** When a heartbeat was last seen to move, by this observer's own clock: nobody's wall clock can expire anything. */
export type Sightings = Map<string, { beat: number; since: number }>;

export interface RecoveryInput {
  workerId: string;
  host: Host;
  leaseMs: number;
  seen: Sightings;
  /** The observer's own clock. */
  now: number;
  /** Called for each job of a worker that is gone, once its claim is ours. */
  adopt(job: ClaimedJob, how: Adoption): void;
  /** Called for each job that may live in a pid namespace we cannot see into: it is left to a worker of its own. */
  unseen(job: ClaimedJob): void;
}

/** Takes over the running jobs of workers that are gone, and forgets such workers. Answers how many jobs it took. */
export async function recover(app: App, input: RecoveryInput): Promise<number> {
  // Jobs first: whoever holds one now is registered, so a holder that is not among the workers read later is gone.
  const running = await app.store.running();
  const workers = await app.store.workers();
  const others = workers.filter((worker) => worker.id !== input.workerId);
  const gone = others.filter((worker) => isGone(worker, input, input.now));
  forgetOld(input.seen, others);

  const alive = new Set(workers.filter((worker) => !gone.includes(worker)).map((worker) => worker.id));
  let adopted = 0;
  for (const job of running) {
    if (job.workerId === null || alive.has(job.workerId)) continue;
    const place = placeOf(app.stateDirectory, app.store.epoch, job.claim.attempt);
    if (isOutOfSight(place)) {
      input.unseen(job);
      continue;
    }
    const mine = await app.store.adopt(job.claim, input.workerId);
    if (mine === null) continue;
    adopted++;
    const before = workers.find((worker) => worker.id === job.workerId);
    input.adopt(mine, {
      rebooted: before?.host.id === input.host.id && before.host.boot !== input.host.boot,
      stopping: before !== undefined && (before.draining || before.order !== null),
      seal: await app.store.seal(),
    });
    // One that has ended is settled before the next is taken: workers that die young still get somewhere together.
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const worker of gone) await app.store.unregister(worker.id);
  return adopted;
}

/**
 * A clock for one who looks with every heartbeat of his own. Longer than a third of the lease between two of them counts as that
 * third: what held him up (the store locked, the disk or the whole machine at a standstill) held up the others too.
 */
export function observerClock(): (monotonic: number, leaseMs: number) => number {
  let last: number | null = null;
  let now = 0;
  return (monotonic, leaseMs) => {
    if (last !== null) now += Math.min(monotonic - last, leaseMs / 3);
    last = monotonic;
    return now;
  };
}

/** Whether a job runs whose worker is not registered or whose process is gone. */
export async function hasOrphans(app: App, host: Host): Promise<boolean> {
  const running = await app.store.running();
  if (running.length === 0) return false;
  const workers = (await app.store.workers()).filter((one) => presence(one, host) !== 'gone');
  const alive = new Set(workers.map((worker) => worker.id));
  return running.some((job) => job.workerId !== null && !alive.has(job.workerId));
}

type Observer = Pick<RecoveryInput, 'host' | 'leaseMs' | 'seen'>;

export function isGone(worker: Worker, input: Observer, now: number): boolean {
  const known = input.seen.get(worker.id);
  if (known === undefined || known.beat !== worker.beat) {
    input.seen.set(worker.id, { beat: worker.beat, since: now });
    return presence(worker, input.host) === 'gone';
  }
  return presence(worker, input.host) === 'gone' || now - known.since > input.leaseMs;
}

function forgetOld(seen: Sightings, workers: Worker[]): void {
  const ids = new Set(workers.map((worker) => worker.id));
  for (const id of seen.keys()) if (!ids.has(id)) seen.delete(id);
}
