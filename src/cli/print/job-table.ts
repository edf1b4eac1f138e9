import type { App } from '../../actions/app.ts';
import { countMatching, jobObject, listJobs } from '../../actions/jobs/jobs.ts';
import { FILTER_FIELDS, type JobFilter, readJobFilter } from '../../core/jobs/filter.ts';
import type { GoneJob, Job } from '../../core/jobs/job.ts';
import { type JobWithReason, reasonText } from '../../core/jobs/waiting-reason.ts';
import { attemptsAllowed, attemptsUsed, signalOf } from '../../core/rules/decide.ts';
import { maskUrls } from '../../core/text/mask.ts';
import { formatCount } from '../../core/text/numbers.ts';
import { countOf } from '../../core/text/words.ts';
import { formatRelative } from '../../core/time/duration.ts';
import { toIso } from '../../core/time/time.ts';
import { type Context, type Flag, type Input, inGroup } from '../frame/command.ts';
import { numberFlag } from '../frame/read-flags.ts';
import { type Listing, printList, type TimeFormat } from './print-list.ts';
import { type Column, isAligned } from './table.ts';
import { type Color, STATE_COLORS } from './text.ts';

export function jobColumns(times: TimeFormat): Column<JobWithReason>[] {
  return [
    { title: 'ID', value: (job) => job.id, shortens: true },
    { title: 'STATE', value: (job) => job.state, color: (job) => STATE_COLORS[job.state] },
    {
      title: 'WAITING FOR',
      alignedOnly: true,
      drop: 0,
      value: (job) => waitingText(job, times.text),
      color: waitingColor,
    },
    { title: 'QUEUE', value: (job) => job.queue, drop: 1, shortens: true },
    { title: 'NAME', value: (job) => job.name ?? '', drop: 3, alignedOnly: true },
    { title: 'PRIORITY', value: (job) => String(job.priority), drop: 5 },
    { title: 'ATTEMPTS', drop: 2, value: (job) => `${attemptsUsed(job)}/${attemptsAllowed(job)}` },
    { title: 'CREATED', value: (job) => times.text(job.createdAt), drop: 4 },
    {
      title: 'DUE',
      value: (job) => (job.blocked || job.held ? '' : times.text(job.dueAt)),
      scriptsOnly: true,
    },
    { title: 'COMMAND', value: (job) => maskUrls(job.command), shrinks: true },
    { title: 'WAITING FOR', value: (job) => job.waitingFor ?? '', scriptsOnly: true },
  ];
}

/** Returns why a job waits, or when it is due if it only waits for that time. Empty if the job does not wait. */
export function waitingText(job: JobWithReason, timeText: TimeFormat['text']): string {
  const { waitingFor, dueAt } = job;
  return waitingFor === 'scheduled' || waitingFor === 'retrying' ? timeText(dueAt) : reasonText(waitingFor);
}

/** Highlights the reasons that stop a whole queue until somebody acts. */
export function waitingColor({ waitingFor }: JobWithReason): Color | undefined {
  return waitingFor === 'queue_paused' || waitingFor === 'no_worker' ? 'yellow' : undefined;
}

export function deadColumns(times: TimeFormat): Column<Job>[] {
  return [
    { title: 'ID', value: (job) => job.id, shortens: true },
    { title: 'QUEUE', value: (job) => job.queue, drop: 2, shortens: true },
    { title: 'ATTEMPTS', value: (job) => `${job.attempts}/${attemptsAllowed(job)}`, drop: 1 },
    { title: 'EXIT', value: exitText },
    { title: 'DEAD SINCE', value: (job) => times.text(job.finishedAt), drop: 3 },
    { title: 'COMMAND', value: (job) => maskUrls(job.command), shrinks: true },
    { title: 'LAST ERROR', value: (job) => job.lastError ?? '', shrinks: true, drop: 0 },
  ];
}

/** Returns the name of the signal that ended the job, or else the exit code, or `-` if there is none. */
export function exitText(job: { exitCode: number | null }): string {
  return signalOf(job.exitCode) ?? (job.exitCode === null ? '-' : String(job.exitCode));
}

/** Returns the signal or exit code in parentheses, to append to a sentence. Empty for exit code 0 or none. */
export function exitNote(job: { exitCode: number | null }): string {
  if (job.exitCode === null || job.exitCode === 0) return '';
  return ` (${signalOf(job.exitCode) ?? `exit ${job.exitCode}`})`;
}

/** Without --limit, a table on a terminal has at most this many rows. Any other output has all matches. */
const DEFAULT_ROWS = 50;
/** Matches are counted only up to this number, because counting all of them could take long. */
const MAX_COUNTED = 10_000;

export function jobListing(app: App, columns: Listing<JobWithReason>['columns']): Listing<JobWithReason> {
  return { columns, id: (job) => job.id, object: (job) => jobObject(app, job) };
}

export async function printJobs(
  context: Pick<Context, 'io' | 'app'>,
  filter: JobFilter,
  limit: number | null,
  columns: Listing<JobWithReason>['columns'],
  emptyNote: string,
): Promise<void> {
  const { io } = context;
  const app = await context.app();
  const maxRows = limit ?? (io.tty && isAligned(io) && !io.json ? DEFAULT_ROWS : null);
  const jobs = listJobs(app, filter, maxRows);
  const shown = await printList(io, jobListing(app, columns), jobs, app.clock.now());
  if (shown === 0) io.note(emptyNote);
  if (!io.tty || io.quiet || io.json || shown !== maxRows) return;
  const total = await countMatching(app, filter, MAX_COUNTED + 1);
  if (shown < total)
    io.note(
      `showing ${formatCount(shown)} of ${formatCount(Math.min(total, MAX_COUNTED))}${total > MAX_COUNTED ? '+' : ''} jobs; use --limit N to see more`,
    );
}

/** The flags that select jobs, for lists and for every action on jobs. */
export const FILTER_FLAGS: Record<string, Flag> = inGroup(
  'Filters',
  Object.fromEntries(
    Object.entries(FILTER_FIELDS).map(([name, field]) => [name, { ...field, many: field.all !== undefined }]),
  ),
);

export const LIMIT_FLAG: Flag = { value: 'N', short: 'n', help: 'maximum number of results' };

export function readFilter({ all }: Pick<Input, 'all'>): JobFilter {
  return readJobFilter(all, (field) => `--${field}`);
}

export function readLimit(input: Input): number | null {
  return numberFlag(input, 'limit', { min: 1, max: 1_000_000_000, integer: true });
}

/** Describes in one line what became of a job that was to be added. */
export function describeAdded(job: Job | GoneJob, now: number): string {
  if ('gone' in job)
    return `nothing was added: job ${job.id} was enqueued with this key and has since been removed`;
  const due = job.runAt === null ? '' : `, due ${formatRelative(job.runAt, now)} (${toIso(job.runAt)})`;
  if (job.existing) return `nothing was added: job ${job.id} (${job.state}) already has this key`;
  if (job.state === 'cancelled')
    return `enqueued ${job.id}, which was cancelled immediately: ${job.lastError}`;
  const held = job.held ? `, held${job.lastError === null ? '' : `: ${job.lastError}`}` : '';
  const after = job.blocked ? `, waiting for ${job.dependsOn.map((parent) => parent.id).join(', ')}` : '';
  return `enqueued ${job.id} in queue ${job.queue}${due}${after}${held}`;
}

export function describeJobs(jobs: (Job | GoneJob)[], now: number): string {
  if (jobs.length === 1) return describeAdded(jobs[0]!, now);
  return describeMany(
    jobs.map((job) => job.id),
    jobs.every((job) => job.existing),
  );
}

export function describeMany(ids: string[], allExisted: boolean): string {
  const range = `(from ${ids[0]} to ${ids.at(-1)})`;
  if (allExisted) return `nothing was added: ${countOf(ids.length)} already exist ${range}`;
  return `enqueued ${countOf(ids.length)} ${range}`;
}
