import type { ComponentChildren } from 'preact';
import { part } from '../frame/api.ts';
import { StateMark } from '../job/state.tsx';
import { Waiting } from '../job/waiting.tsx';
import { duration, visible } from '../parts/format.ts';
import { csv, sortRows } from '../parts/rows.ts';
import { Ago, Since } from '../parts/time.tsx';
import { attemptsUsed, type Job, STATES, type State } from '../types.ts';
import { COLUMN_TITLES } from '../words/jobs.ts';
import { SHARED } from '../words/shared.ts';

/** A column of a table of jobs: how it looks, and the value that files contain and sorting uses. */
interface Column {
  title: string;
  /** The class of its cells. */
  class?: string;
  cell(job: Job): ComponentChildren;
  value(job: Job): string | number | null;
  /** Sorts the column, if not by its value. */
  rank?(job: Job): number;
}

const right = 'right number';

/** Returns the error below the command. The error of an earlier attempt does not matter after a success. */
export const shownError = (job: Job): string | null => (job.state === 'completed' ? null : job.last_error);

const time = (title: string, field: 'created_at' | 'updated_at' | 'started_at' | 'next_run_at'): Column => ({
  title,
  class: right,
  cell: (job) => <Ago at={job[field]} />,
  value: (job) => job[field],
});

export const COLUMNS = {
  state: {
    title: COLUMN_TITLES.state,
    class: 'status',
    cell: (job) => (
      <>
        <StateMark state={job.state} /> <Waiting job={job} />
      </>
    ),
    value: (job) => job.state,
    rank: (job) => STATES.indexOf(job.state as State),
  },
  job: {
    title: COLUMN_TITLES.job,
    class: 'which',
    cell: (job) => (
      <>
        <a class="id" href={`/jobs/${part(job.id)}`} data-open>
          {job.id}
        </a>
        {job.name === null ? null : <span class="name"> {visible(job.name)}</span>}
      </>
    ),
    value: (job) => job.id,
  },
  name: {
    title: COLUMN_TITLES.name,
    class: 'cut',
    cell: (job) => visible(job.name ?? ''),
    value: (job) => job.name,
  },
  command: {
    title: COLUMN_TITLES.command,
    class: 'command',
    cell: (job) => (
      <>
        <code title={visible(job.command)}>{visible(job.command)}</code>
        {shownError(job) === null ? null : <span class="error">{visible(shownError(job)!)}</span>}
      </>
    ),
    value: (job) => job.command,
  },
  error: {
    title: COLUMN_TITLES.error,
    class: 'cut',
    cell: (job) => <span title={visible(job.last_error ?? '')}>{visible(job.last_error ?? '')}</span>,
    value: (job) => job.last_error,
  },
  queue: {
    title: COLUMN_TITLES.queue,
    class: 'roomy',
    cell: (job) => visible(job.queue),
    value: (job) => job.queue,
  },
  tags: {
    title: COLUMN_TITLES.tags,
    class: 'cut',
    cell: (job) =>
      Object.entries(job.tags).map(([key, value]) => (
        <a key={key} class="tag" href={`/jobs?tag=${part(`${key}=${value}`)}`}>
          {visible(`${key}=${value}`)}
        </a>
      )),
    value: (job) =>
      Object.entries(job.tags)
        .map((pair) => pair.join('='))
        .join(' '),
  },
  priority: {
    title: COLUMN_TITLES.priority,
    class: right,
    cell: (job) => job.priority,
    value: (job) => job.priority,
  },
  attempts: {
    title: COLUMN_TITLES.attempts,
    class: `${right} roomy`,
    cell: (job) => (
      <>
        {attemptsUsed(job)}
        <span class="faint">/{Math.max(1, job.max_retries)}</span>
      </>
    ),
    value: (job) => job.attempts,
  },
  exit: {
    title: COLUMN_TITLES.exit,
    class: right,
    cell: (job) => job.signal ?? job.exit_code,
    value: (job) => job.exit_code,
  },
  worker: {
    title: COLUMN_TITLES.worker,
    class: 'id',
    cell: (job) => job.worker_id,
    value: (job) => job.worker_id,
  },
  ran: {
    title: COLUMN_TITLES.ran,
    class: `${right} roomy`,
    cell: (job) =>
      job.state === 'processing' && job.started_at !== null ? (
        <Since at={job.started_at} />
      ) : (
        duration(job.duration_ms)
      ),
    value: (job) => job.duration_ms,
  },
  created: time(COLUMN_TITLES.created, 'created_at'),
  started: time(COLUMN_TITLES.started, 'started_at'),
  next: {
    ...time(COLUMN_TITLES.next, 'next_run_at'),
    // Only a time in the future is the time of the next run.
    cell: (job) => (job.waiting_for === null ? <Ago at={null} /> : <Waiting job={job} />),
  },
  waiting: {
    title: COLUMN_TITLES.waiting,
    class: 'status',
    cell: (job) => (job.waiting_for === null ? '' : SHARED.reasons[job.waiting_for]),
    value: (job) => job.waiting_for,
  },
  changed: time(COLUMN_TITLES.changed, 'updated_at'),
} satisfies Record<string, Column> as Record<string, Column>;

export const DEFAULT_COLUMNS = ['state', 'job', 'command', 'queue', 'attempts', 'ran', 'changed'];

const KEY = 'queuectl-columns';

/** Returns the columns in the URL, or those that were chosen last. The column `job` is always included. */
export function columnsOf(query: URLSearchParams): string[] {
  const text = query.get('columns') ?? localStorage.getItem(KEY) ?? '';
  const known = text.split(',').filter((name) => Object.hasOwn(COLUMNS, name));
  return known.length === 0 ? DEFAULT_COLUMNS : known.includes('job') ? known : ['job', ...known];
}

/** Stores the chosen columns in their fixed order. Returns them for the URL, or null for the default columns. */
export function chooseColumns(names: string[]): string | null {
  const text = Object.keys(COLUMNS)
    .filter((name) => names.includes(name))
    .join(',');
  if (text === DEFAULT_COLUMNS.join(',')) {
    localStorage.removeItem(KEY);
    return null;
  }
  localStorage.setItem(KEY, text);
  return text;
}

/** Sorts jobs by a column. A `-` before its name reverses the order. */
export function sortJobs(jobs: Job[], by: string | null): Job[] {
  const name = by?.replace(/^-/, '') ?? '';
  if (!Object.hasOwn(COLUMNS, name)) return jobs;
  const { value, rank = value } = COLUMNS[name]!;
  return sortRows(jobs, rank, by!.startsWith('-'));
}

export function csvOf(jobs: Job[], columns: string[]): string {
  return csv([columns, ...jobs.map((job) => columns.map((name) => COLUMNS[name]!.value(job)))]);
}
