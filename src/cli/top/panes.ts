import { lastEndOf, type Snapshot } from '../../actions/top.ts';
import { toWorkerObject } from '../../actions/workers/workers.ts';
import type { ClaimedJob, Job, State } from '../../core/jobs/job.ts';
import { type JobWithReason, reasonText } from '../../core/jobs/waiting-reason.ts';
import { attemptsAllowed, attemptsUsed } from '../../core/rules/decide.ts';
import { maskUrls } from '../../core/text/mask.ts';
import { formatCount } from '../../core/text/numbers.ts';
import { formatDuration, formatRelative } from '../../core/time/duration.ts';
import type { QueueObject } from '../../core/wire/wire.ts';
import type { Worker } from '../../store/contract/workers.ts';
import { slotsInUse } from '../commands/worker.ts';
import { waitingColor, waitingText } from '../print/job-table.ts';
import type { Column } from '../print/table.ts';
import { STATE_COLORS } from '../print/text.ts';

export const PANE_NAMES = ['queues', 'running', 'waiting', 'failures', 'workers'] as const;
export type PaneName = (typeof PANE_NAMES)[number];

/** A list on the screen. */
interface Pane<Row> {
  /** Returns the number of all entries, including those that are not listed. */
  total(snapshot: Snapshot): number;
  rows(snapshot: Snapshot): Row[];
  key(row: Row): string;
  /** Returns the texts that a filter searches. */
  words(row: Row): string[];
  /** Returns the job and the queue that keys act on when the row is chosen. */
  target(row: Row): { job: Job | null; queue: string | null };
  columns(now: number, title: string, rows: Row[], snapshot: Snapshot): Column<Row>[];
}

const queues: Pane<QueueObject> = {
  total: ({ queues }) => queues.length,
  rows: ({ queues }) => queues,
  key: ({ name }) => name,
  words: ({ name, paused }) => [name, paused ? 'paused' : 'open'],
  target: ({ name }) => ({ job: null, queue: name }),
  columns: (_, title) => [
    { title, value: ({ name }) => name, shortens: true },
    {
      title: 'STATUS',
      value: ({ paused }) => (paused ? 'paused' : 'open'),
      color: ({ paused }) => (paused ? 'yellow' : undefined),
    },
    { title: 'WAITING', ...count('pending') },
    {
      title: 'RUNNING',
      right: true,
      value: ({ jobs, concurrency }) => `${jobs.processing}${concurrency === null ? '' : `/${concurrency}`}`,
      color: colorIfAny('processing'),
    },
    { title: 'FAILED', ...count('failed'), color: colorIfAny('failed'), drop: 0 },
    { title: 'DEAD', ...count('dead'), color: colorIfAny('dead'), drop: 0 },
    { title: 'COMPLETED', ...count('completed'), drop: 1 },
    { title: 'RATE', value: ({ rate }) => rate ?? '-', drop: 2 },
  ],
};

const running: Pane<ClaimedJob> = {
  ...jobPane((snapshot) => snapshot.running),
  total: ({ jobs }) => jobs.processing,
  columns: (now, title, rows) => [
    { title, value: ({ id }) => id, shortens: true },
    { title: 'STATUS', value: runningStatus, color: (job) => (job.endReason === null ? 'cyan' : 'yellow') },
    { title: 'ELAPSED', right: true, value: (job) => wholeSeconds(now - job.startedAt!) },
    ...(rows.some((job) => job.timeoutMs !== null) ? [timeLeftColumn(now)] : []),
    {
      title: 'ATTEMPT',
      right: true,
      value: (job) => `${attemptsUsed(job)}/${attemptsAllowed(job)}`,
      drop: 2,
    },
    { title: 'QUEUE', value: ({ queue }) => queue, drop: 1 },
    { title: 'WORKER', value: ({ workerId }) => workerId ?? '', drop: 3 },
    { title: 'COMMAND', value: ({ command }) => maskUrls(command), shrinks: true, least: 30 },
  ],
};

const waiting: Pane<JobWithReason> = {
  ...jobPane((snapshot) => snapshot.waiting),
  total: ({ jobs }) => jobs.pending,
  columns: (now, title) => [
    { title, value: ({ id }) => id, shortens: true },
    { title: 'WAITING FOR', value: (job) => waitingText(job, relativeTo(now)), color: waitingColor },
    { title: 'WAITED', right: true, value: (job) => wholeSeconds(now - job.createdAt), drop: 2 },
    { title: 'PRIORITY', right: true, value: ({ priority }) => String(priority), drop: 3 },
    { title: 'QUEUE', value: ({ queue }) => queue, drop: 1 },
    { title: 'COMMAND', value: ({ command }) => maskUrls(command), shrinks: true, least: 30 },
  ],
};

const failures: Pane<JobWithReason> = {
  ...jobPane((snapshot) => snapshot.failures),
  total: ({ jobs }) => jobs.failed + jobs.dead,
  columns: (now, title) => [
    { title, value: ({ id }) => id, shortens: true },
    { title: 'STATE', value: ({ state }) => state, color: ({ state }) => STATE_COLORS[state] },
    { title: 'WHEN', value: (job) => formatRelative(lastEndOf(job), now) },
    {
      title: 'RETRY',
      value: (job) => (job.state === 'dead' ? 'never' : waitingText(job, relativeTo(now))),
      color: waitingColor,
      drop: 1,
    },
    { title: 'ATTEMPTS', right: true, value: (job) => `${job.attempts}/${attemptsAllowed(job)}`, drop: 2 },
    { title: 'QUEUE', value: ({ queue }) => queue, drop: 3 },
    { title: 'COMMAND', value: ({ command }) => maskUrls(command), shrinks: true, drop: 4 },
    { title: 'LAST ERROR', value: ({ lastError }) => lastError ?? '', shrinks: true, least: 34 },
  ],
};

const workers: Pane<Worker> = {
  total: ({ workers }) => workers.length,
  rows: ({ workers }) => workers,
  key: ({ id }) => id,
  words: ({ id, hostname, queues, currentJobs }) => [id, hostname, ...(queues ?? []), ...currentJobs],
  target: () => ({ job: null, queue: null }),
  columns: (now, title) => [
    { title, value: ({ id }) => id, shortens: true },
    { title: 'STATUS', value: (worker) => toWorkerObject(worker).status },
    {
      title: 'SLOTS',
      right: true,
      value: (worker) => slotsInUse(toWorkerObject(worker)),
    },
    { title: 'HEARTBEAT', value: ({ lastHeartbeat }) => formatRelative(lastHeartbeat, now), drop: 0 },
    { title: 'PID', right: true, value: ({ pid }) => String(pid), drop: 3 },
    { title: 'QUEUES', value: ({ queues }) => queues?.join(',') ?? '*', drop: 1 },
    { title: 'HOST', value: ({ hostname }) => hostname, drop: 4 },
    { title: 'JOBS', value: ({ currentJobs }) => currentJobs.join(','), shrinks: true, drop: 2 },
  ],
};

/** All panes by name. The types of their rows are hidden, which is safe, because a pane only gets its own rows. */
export const PANES = { queues, running, waiting, failures, workers } as Record<PaneName, Pane<unknown>>;

function jobPane<Row extends Job>(rows: (snapshot: Snapshot) => Row[]) {
  return {
    rows,
    key: ({ id }: Row) => id,
    words: (job: Row) =>
      [job.id, job.queue, job.name, job.command, job.state, job.lastError, reasonOf(job)].filter(
        (word) => word !== null,
      ),
    target: (job: Row) => ({ job, queue: job.queue }),
  };
}

/** Returns the reason why a job waits, in words, or null if it does not wait. */
function reasonOf(job: Job | JobWithReason): string | null {
  return 'waitingFor' in job && job.waitingFor !== null ? reasonText(job.waitingFor) : null;
}

function runningStatus({ endReason }: ClaimedJob): string {
  if (endReason === null) return 'running';
  return { timeout: 'timed out', cancelled: 'cancelling', stopped: 'stopping' }[endReason];
}

function timeLeftColumn(now: number): Column<ClaimedJob> {
  const timeLeft = (job: ClaimedJob): number => job.timeoutMs! - (now - job.startedAt!);
  return {
    title: 'TIME LEFT',
    right: true,
    value: (job) => (job.timeoutMs === null ? '-' : wholeSeconds(timeLeft(job))),
    color: (job) => (job.timeoutMs !== null && timeLeft(job) < job.timeoutMs / 10 ? 'yellow' : undefined),
  };
}

function relativeTo(now: number): (at: number | null) => string {
  return (at) => (at === null ? '' : formatRelative(at, now));
}

function count(state: State) {
  return { right: true, value: ({ jobs }: QueueObject) => formatCount(jobs[state]) };
}

function colorIfAny(state: State) {
  return ({ jobs }: QueueObject) => (jobs[state] > 0 ? STATE_COLORS[state] : undefined);
}

/** Formats a duration in whole seconds, because the screen is drawn once a second. */
function wholeSeconds(ms: number): string {
  return ms < 1000 ? '0s' : formatDuration(Math.floor(ms / 1000) * 1000);
}
