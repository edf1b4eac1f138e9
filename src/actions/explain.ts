import { attemptsAllowed } from '../core/decide.ts';
import { formatDuration } from '../core/duration.ts';
import type { Job } from '../core/job.ts';
import { availableTokens, formatRate } from '../core/rate.ts';
import { toIso } from '../core/time.ts';
import type { WaitingReason } from '../core/waiting-reason.ts';
import { countOf } from '../core/words.ts';
import { isOutOfSight } from '../exec/lifeline.ts';
import { placeOf } from '../state/place.ts';
import type { Queue } from '../store/contract/queues.ts';
import { type App, currentSettings } from './app.ts';
import { countJobs, getJob } from './jobs.ts';
import { standstill } from './standstill.ts';
import { isSuspended, processesOf } from './suspend.ts';
import { withReason } from './waiting-reasons.ts';
import { activeWorkers, serves } from './workers.ts';

export interface Explanation {
  id: string;
  state: string;
  /** The first reason why it is not running. Null if it is running or has ended. */
  waiting_for: WaitingReason | null;
  /** Why it does not run, or how it ended, in one sentence each. */
  reasons: string[];
}

/** Why does it not run? Every reason that stands in its way now. */
export async function explain(app: App, id: string): Promise<Explanation> {
  const job = await withReason(app, await getJob(app, id));
  return { id, state: job.state, waiting_for: job.waitingFor, reasons: await reasonsOf(app, job) };
}

async function reasonsOf(app: App, job: Job): Promise<string[]> {
  const now = app.clock.now();
  const tried = job.attempts === 0 ? '' : ` after ${countOf(job.attempts, 'attempt')}`;
  switch (job.state) {
    case 'processing':
      return runningReasons(app, job, now);
    case 'completed':
      return [`the job completed at ${toIso(job.finishedAt)}`];
    case 'dead':
      return [
        `the job failed permanently${tried}: ${job.lastError ?? 'unknown error'}; to run it again: queuectl retry ${job.id}`,
      ];
    case 'cancelled':
      return [
        `the job was cancelled at ${toIso(job.finishedAt)}${job.lastError === null ? '' : `: ${job.lastError}`}; to run it again: queuectl retry ${job.id}`,
      ];
    default:
      return waitingReasons(app, job, now);
  }
}

async function runningReasons(app: App, job: Job, now: number): Promise<string[]> {
  const elapsed = formatDuration(now - (job.startedAt ?? now));
  const since = `for ${elapsed}, since ${toIso(job.startedAt)}`;
  const at = `${elapsed} ago, at ${toIso(job.startedAt)}`;
  const alive = (await activeWorkers(app)).some((worker) => worker.id === job.workerId);
  const processes = await processesOf(app, job.id);
  const reasons: string[] = [];
  if (alive) reasons.push(`the job has been running on worker ${job.workerId} ${since}`);
  else if (processes.length > 0)
    reasons.push(`the job has been running ${since}, but its worker is gone; the next worker will adopt it`);
  else if (await isUnseen(app, job.id))
    reasons.push(
      `the job started ${at} and may still be running in another pid namespace, but its worker is gone; a worker started there will adopt it`,
    );
  else
    reasons.push(`the job started ${at}, but its worker is gone; the next worker will find out how it ended`);
  if (isSuspended(processes))
    reasons.push(`the job is suspended; to continue it: queuectl continue ${job.id}`);
  return reasons;
}

/** May it run where this process cannot look? */
async function isUnseen(app: App, id: string): Promise<boolean> {
  const claimed = (await app.store.running()).find((job) => job.id === id);
  if (claimed === undefined) return false;
  return isOutOfSight(placeOf(app.stateDirectory, app.store.epoch, claimed.claim.attempt));
}

async function waitingReasons(app: App, job: Job, now: number): Promise<string[]> {
  const reasons: string[] = [];
  const why = job.state === 'pending' && job.lastError !== null ? `: ${job.lastError}` : '';
  if (job.held) reasons.push(`the job is held${why}; to release it: queuectl release ${job.id}`);
  if (job.dependsOn.length > 0) reasons.push(...(await parentReasons(app, job)));
  const wait = (job.dueAt ?? now) - now;
  if (wait > 0) {
    const most = attemptsAllowed(job) - 1;
    const retry = job.attempts < most ? `retry ${job.attempts} of ${most}` : 'last attempt';
    reasons.push(
      job.state === 'failed'
        ? `${retry} in ${formatDuration(wait)}`
        : `the job is due in ${formatDuration(wait)} (${toIso(job.dueAt)})`,
    );
  }
  reasons.push(...(await standstill(app, [job.queue])));
  const queue = (await app.store.queues()).find((one) => one.name === job.queue);
  if (queue !== undefined) reasons.push(...(await queueReasons(app, queue)));
  reasons.push(...(await workerReasons(app, job)));
  return reasons.length > 0 ? reasons : ['the job is ready and will run when a worker has a free slot'];
}

const WANTED = { ok: 'to complete', any: 'to end', notok: 'to fail or be cancelled' };

async function parentReasons(app: App, job: Job): Promise<string[]> {
  const parents = await app.store.dependencies(job.id);
  return parents
    .filter((parent) => parent.phase === 'open')
    .map(({ id, on, state }) => `the job is waiting for job ${id} ${WANTED[on]} (${state})`);
}

async function queueReasons(app: App, queue: Queue): Promise<string[]> {
  const reasons: string[] = [];
  const running = await countJobs(app, { queue: queue.name, states: ['processing'] });
  if (queue.concurrency !== null && running >= queue.concurrency) {
    reasons.push(
      `queue ${queue.name} is at its concurrency limit (${running} of ${queue.concurrency} running)`,
    );
  }
  const most = (await currentSettings(app))['max-concurrent-jobs'];
  const total = await countJobs(app, { states: ['processing'] });
  if (most !== null && total >= most)
    reasons.push(`the max-concurrent-jobs limit is reached (${total} of ${most} running)`);
  const { rate, tokens } = queue;
  if (rate !== null && availableTokens(rate, tokens, app.clock.now()).tokens < 1)
    reasons.push(`queue ${queue.name} has a rate limit of ${formatRate(rate)}`);
  return reasons;
}

async function workerReasons(app: App, job: Job): Promise<string[]> {
  const serving = (await activeWorkers(app)).filter((worker) => serves(worker, job.queue));
  const free = serving.some((worker) => worker.currentJobs.length < worker.concurrency);
  if (free || serving.length === 0) return [];
  return [
    `all ${serving.length === 1 ? 'slots of its worker' : `${serving.length} workers that serve its queue`} are busy`,
  ];
}
