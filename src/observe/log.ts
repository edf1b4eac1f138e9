import type { ClaimedJob } from '../core/jobs/job.ts';
import { exitCodeOf, type Outcome, signalOf, type Transition } from '../core/rules/decide.ts';
import type { WorkerEvent } from '../core/rules/events.ts';
import { formatBytes } from '../core/text/numbers.ts';
import { pairValue, printable } from '../core/text/printable.ts';
import { countOf } from '../core/text/words.ts';
import { formatDuration } from '../core/time/duration.ts';
import { toIso } from '../core/time/time.ts';

/** Returns the log line for an event of a worker. Ids and names are quoted unless they are plain words. */
export function logLine(event: WorkerEvent, now: number): string {
  return `${toIso(now)} ${printable(eventText(event, now))}`;
}

function eventText(event: WorkerEvent, now: number): string {
  switch (event.type) {
    case 'worker-ready':
      return `worker=${event.workerId} ready pid=${event.pid} slots=${event.concurrency} queues=${pairValue(event.queues?.join(',') ?? '*')}`;
    case 'worker-draining':
      return `worker=${event.workerId} stopping (${event.why}) running=${event.running}`;
    case 'worker-stopped':
      return `worker=${event.workerId} stopped${event.left ? `; ${event.left}` : ''}`;
    case 'worker-error':
      return `worker=${event.workerId} error: ${event.message}`;
    case 'jobs-pruned':
      return `worker=${event.workerId} pruned ${countOf(event.jobs)} with ${formatBytes(event.bytes)} of output`;
    case 'tick':
      return `schedule=${pairValue(event.schedule)} tick=${toIso(event.at)} ${tickResult(event.jobId, event.waits)}`;
    case 'attempt-started':
      return `${jobPairs(event.job)} started pid=${event.pid}`;
    case 'attempt-adopted':
      return `${jobPairs(event.job)} adopted`;
    case 'attempt-unseen':
      return `${jobPairs(event.job)} lost its worker and may still be running in another pid namespace; leaving it to a worker there`;
    case 'attempt-ending':
      return `${jobPairs(event.job)} stopping (${event.reason})`;
    case 'attempt-settled':
      return `${jobPairs(event.job)} ${resultText(event.outcome, event.transition, event.durationMs, now)}`;
    case 'claim-lost':
      return `${jobPairs(event.job)} was taken over by another worker`;
  }
}

function tickResult(jobId: string | null, waits: boolean): string {
  if (jobId !== null) return `enqueued job=${pairValue(jobId)}`;
  return waits
    ? 'waiting for the previous job'
    : 'skipped: the previous job is unfinished or holds the unique key';
}

function jobPairs(job: ClaimedJob): string {
  return `job=${pairValue(job.id)} attempt=${job.ordinal} queue=${pairValue(job.queue)}`;
}

function resultText(outcome: Outcome, transition: Transition, durationMs: number, now: number): string {
  const ending = `(${howItEnded(outcome)}) after ${formatDuration(durationMs)}`;
  switch (transition.to) {
    case 'failed':
      return `failed ${ending}, retry in ${formatDuration(Math.max(0, transition.nextRunAt - now))}`;
    case 'released':
      return `requeued ${ending}`;
    default:
      return `${transition.to} ${ending}`;
  }
}

function howItEnded(outcome: Outcome): string {
  if (outcome.why !== 'exited') return outcome.why;
  return signalOf(outcome.code) ?? `exit ${exitCodeOf(outcome)}`;
}
