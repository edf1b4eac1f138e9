import type { ClaimedJob, JobSpec } from '../../src/core/jobs/job.ts';
import { newSpec } from '../../src/core/jobs/job-defaults.ts';
import {
  decide,
  describeOutcome,
  exitCodeOf,
  type Outcome,
  type Policy,
} from '../../src/core/rules/decide.ts';
import { processIdentity } from '../../src/files/process-identity.ts';
import type { Host } from '../../src/state/host.ts';
import type { ClaimRequest, Settlement } from '../../src/store/contract/claims.ts';
import type { NewWorker } from '../../src/store/contract/workers.ts';
import type { Store } from '../../src/store/store.ts';

/** The time that tests of the store pass as the current time. */
export const NOW = Date.UTC(2030, 0, 1);

/** The id of the host of a worker of `newWorker`. */
export const HOST_ID = 'host';
/** That host in the present boot. */
export const HOST: Host = { id: HOST_ID, boot: processIdentity.bootId(), pidNamespace: 'pid:[1]' };

/** The boots that opened stores have found for hosts, if these are not just the boot of this machine. */
export const ownBoots = new Map<string, string>();
/** Returns a host of the present boot as the store with this host id sees it. A host of another boot stays as it is. */
export const asStored = (host: Host): Host =>
  host.boot === HOST.boot ? { ...host, boot: ownBoots.get(host.id) ?? host.boot } : host;

/** The lease that tests pass where its length does not matter. */
export const LEASE_MS = 30_000;
/** The lease of a worker of `newWorker`. No test takes this long, so the lease is not over while the worker claims jobs. */
const FIRST_LEASE_MS = 3_600_000;

const POLICY: Policy = {
  crashLimit: 5,
  backoff: { strategy: 'exponential', base: 2, retryDelayMs: 1000, maxMs: null, jitter: 0 },
};

export function jobSpec(id: string, fields: Partial<JobSpec> = {}): JobSpec {
  return newSpec({ id, command: `echo ${id}`, maxRetries: 3, timeoutMs: null, cwd: '/', ...fields });
}

export function newWorker(id: string, fields: Partial<NewWorker> = {}): NewWorker {
  return {
    id,
    supervisor: 'supervisor',
    pid: 4711,
    startTime: '123456789',
    hostname: 'machine',
    concurrency: 1,
    queues: null,
    startedAt: NOW,
    leaseMs: FIRST_LEASE_MS,
    ...fields,
    host: asStored(fields.host ?? HOST),
  };
}

/** Returns a request of worker `w1` for one job of any queue, unless `fields` sets other values. */
export function claimRequest(fields: Partial<ClaimRequest> = {}): ClaimRequest {
  return { workerId: 'w1', limit: 1, queues: null, settlements: [], ...fields };
}

/** Registers a worker unless it is registered, because only registered workers claim jobs. */
export async function ensureRegistered(store: Store, workerId: string): Promise<void> {
  const isRegistered = async (): Promise<boolean> => ids(await store.workers()).includes(workerId);
  if (await isRegistered()) return;
  await store.register(newWorker(workerId)).catch(async (error) => {
    // A case may claim for the same worker through several connections at once.
    if (!(await isRegistered())) throw error;
  });
}

/** Claims jobs for worker `w1`, or for the worker of `fields`, which is registered if it is not yet. */
export async function claim(
  store: Store,
  fields: Partial<ClaimRequest> = {},
  now = NOW,
): Promise<ClaimedJob[]> {
  const request = claimRequest(fields);
  await ensureRegistered(store, request.workerId);
  return (await store.claim(request, now)).jobs;
}

/** Claims one job. Throws if none is due. */
export async function claimOne(store: Store, workerId = 'w1', now = NOW): Promise<ClaimedJob> {
  const [job] = await claim(store, { workerId }, now);
  if (job === undefined) throw new Error('no job was due');
  return job;
}

/** Inserts a job and claims it, so that it is running. */
export async function startJob(store: Store, id: string, fields: Partial<JobSpec> = {}): Promise<ClaimedJob> {
  await store.insert([jobSpec(id, fields)], NOW);
  const job = await claimOne(store);
  if (job.id !== id) throw new Error(`expected ${id} at the head, found ${job.id}`);
  return job;
}

/** Returns the settlement that a worker writes when an attempt has ended. */
export function ending(
  job: ClaimedJob,
  outcome: Outcome,
  at = NOW + 1000,
  fields: Partial<Settlement> = {},
): Settlement {
  return {
    claim: job.claim,
    transition: decide(job, outcome, POLICY, at, () => 0),
    why: outcome.why,
    exitCode: exitCodeOf(outcome),
    error: describeOutcome(outcome, job.timeoutMs, ''),
    finishedAt: at,
    output: { bytes: 0, truncated: false, kept: null },
    leftBehind: [],
    hooks: [],
    onIdle: null,
    ...fields,
  };
}

export const succeeded: Outcome = { why: 'exited', code: 0 };
export const failedWith = (code: number): Outcome => ({ why: 'exited', code });

export const ids = (jobs: readonly { id: string }[]): string[] => jobs.map((job) => job.id);
