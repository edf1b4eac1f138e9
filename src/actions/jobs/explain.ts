import type { Job } from '../../core/jobs/job.ts';
import { attemptsAllowed } from '../../core/rules/decide.ts';
import { availableTokens, formatRate } from '../../core/rules/queue.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { countOf } from '../../core/text/words.ts';
import { formatDuration } from '../../core/time/duration.ts';
import { toIso } from '../../core/time/time.ts';
import { isOutOfSight } from '../../exec/lifeline.ts';
import { filesOfAttempt } from '../../state/attempt-files.ts';
import type { QueueRow } from '../../store/contract/queues.ts';
import { type App, currentSettings } from '../app.ts';
import { describeLateHost, lateHostsOfJobs } from '../workers/host-heartbeats.ts';
import { activeWorkers, serves, takesJobs } from '../workers/workers.ts';
import { countJobs, getJob } from './jobs.ts';
import { isSuspended, processesOf } from './signal-jobs.ts';
import { whyQueuesStandStill, withReason } from './waiting-reasons.ts';

/** Returns the state of a job with every reason for it that applies now: why it does not run, where it runs or how it ended. */
export async function explain(app: App, id: string) {
  const job = await withReason(app, await getJob(app, id));
  return { id, state: job.state, waiting_for: job.waitingFor, reasons: await reasonsOf(app, job) };
}

async function reasonsOf(app: App, job: Job): Promise<string[]> {
  const now = app.clock.now();
  const afterAttempts = job.attempts === 0 ? '' : ` after ${countOf(job.attempts, 'attempt')}`;
  switch (job.state) {
    case 'processing':
      return runningReasons(app, job, now);
    case 'completed':
      return [`the job completed at ${toIso(job.finishedAt)}`];
    case 'dead':
      return [
        `the job failed permanently${afterAttempts}: ${job.lastError ?? 'unknown error'}; to run it again: queuectl retry ${shellWord(job.id)}`,
      ];
    case 'cancelled':
      return [cancelledText(job)];
    default:
      return waitingReasons(app, job, now);
  }
}

function cancelledText({ id, finishedAt, lastError, startedAt }: Job): string {
  const why =
    startedAt === null && lastError === 'cancelled before it ran'
      ? ' before it ran'
      : lastError === null
        ? ''
        : `: ${lastError}`;
  return `the job was cancelled at ${toIso(finishedAt)}${why}; to run it: queuectl retry ${shellWord(id)}`;
}

async function runningReasons(app: App, job: Job, now: number): Promise<string[]> {
  const elapsed = formatDuration(now - (job.startedAt ?? now));
  const runningSince = `for ${elapsed}, since ${toIso(job.startedAt)}`;
  const startedWhen = `${elapsed} ago, at ${toIso(job.startedAt)}`;
  const worker = (await activeWorkers(app)).find((one) => one.id === job.workerId);
  const claimed = (await app.store.runningJobs()).find(({ id }) => id === job.id);
  const otherHost = claimed?.otherHost ?? null;
  const onHost = otherHost === null ? '' : ` on host ${otherHost}`;
  const processes = await processesOf(app, job.id);
  const reasons: string[] = [];
  if (worker !== undefined)
    reasons.push(`the job has been running on worker ${job.workerId}${onHost} ${runningSince}`);
  else if (otherHost !== null)
    reasons.push(
      `the job started ${startedWhen}${onHost}, but its worker is gone; a worker of that host will take over the job, or any worker after the lease of that host is over`,
    );
  else if (processes.length > 0)
    reasons.push(
      `the job has been running ${runningSince}, but its worker is gone; the next worker will take over the job`,
    );
  // The processes of another pid namespace are not visible here.
  else if (claimed !== undefined && isOutOfSight(filesOfAttempt(app, claimed.claim.attempt)))
    reasons.push(
      `the job started ${startedWhen} and may still be running in another pid namespace, but its worker is gone; a worker started there will take over the job`,
    );
  else
    reasons.push(
      `the job started ${startedWhen}, but its worker is gone; the next worker will find out how the job ended`,
    );
  if (worker !== undefined) reasons.push(...(await lateHostsOfJobs(app, [job.id])).map(describeLateHost));
  if (isSuspended(processes))
    reasons.push(`the job is suspended; to continue it: queuectl continue ${shellWord(job.id)}`);
  return reasons;
}

async function waitingReasons(app: App, job: Job, now: number): Promise<string[]> {
  const reasons: string[] = [];
  const errorText = job.state === 'pending' && job.lastError !== null ? `: ${job.lastError}` : '';
  if (job.held)
    reasons.push(`the job is held${errorText}; to release it: queuectl release ${shellWord(job.id)}`);
  if (job.dependsOn.length > 0) reasons.push(...(await parentReasons(app, job)));
  const waitMs = (job.dueAt ?? now) - now;
  const isReady = !job.held && !job.blocked && !job.delayed;
  if (!isReady && waitMs > 0) {
    const retries = attemptsAllowed(job) - 1;
    const retry = job.attempts < retries ? `retry ${job.attempts} of ${retries}` : 'the last attempt';
    reasons.push(
      job.state === 'failed'
        ? `${retry} starts in ${formatDuration(waitMs)}`
        : `the job is due in ${formatDuration(waitMs)} (${toIso(job.dueAt)})`,
    );
  }
  reasons.push(...(await whyQueuesStandStill(app, [job])));
  const queue = (await app.store.queues()).find((one) => one.name === job.queue);
  if (queue !== undefined) reasons.push(...(await queueReasons(app, queue)));
  reasons.push(...(await workerReasons(app, job)));
  return reasons.length > 0 ? reasons : ['the job is ready and will run when a worker has a free slot'];
}

const WANTED_END = { ok: 'to complete', any: 'to finish', notok: 'to fail or be cancelled' };

async function parentReasons(app: App, job: Job): Promise<string[]> {
  const parents = await app.store.dependencies(job.id);
  return parents
    .filter((parent) => parent.phase === 'open')
    .map(({ id, on, state }) => `the job is waiting for job ${id} ${WANTED_END[on]} (currently ${state})`);
}

async function queueReasons(app: App, { name, concurrency, rate, tokens }: QueueRow): Promise<string[]> {
  const reasons: string[] = [];
  const running = await countJobs(app, { queue: name, states: ['processing'] });
  if (concurrency !== null && running >= concurrency)
    reasons.push(`queue ${name} is at its concurrency limit (${running} of ${concurrency} running)`);
  const maxJobs = (await currentSettings(app))['max-concurrent-jobs'];
  const total = await countJobs(app, { states: ['processing'] });
  if (maxJobs !== null && total >= maxJobs)
    reasons.push(`the limit set by max-concurrent-jobs is reached (${total} of ${maxJobs} running)`);
  if (rate !== null && availableTokens(rate, tokens, app.clock.now()).tokens < 1)
    reasons.push(`queue ${name} has a rate limit of ${formatRate(rate)}`);
  return reasons;
}

async function workerReasons(app: App, job: Job): Promise<string[]> {
  const serving = (await activeWorkers(app)).filter((one) => takesJobs(one) && serves(one, job.queue));
  const hasFreeSlot = serving.some((worker) => worker.currentJobs.length < worker.concurrency);
  if (hasFreeSlot || serving.length === 0) return [];
  return [
    `all ${serving.length === 1 ? 'slots of the worker that serves its queue' : `${serving.length} workers that serve its queue`} are busy`,
  ];
}
