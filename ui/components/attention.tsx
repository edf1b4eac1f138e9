import type { ComponentChildren } from 'preact';
import { part } from '../api.ts';
import { duration, plural, visible, wholeDuration } from '../format.ts';
import { now, queues } from '../store.ts';
import type { Doctor, Job, Named, Schedule, Series, Worker } from '../types.ts';
import { Icon } from './icon.tsx';
import { isSlow, ranFor, usual } from './running.tsx';

interface Known {
  workers: Worker[] | null;
  schedules: Schedule[] | null;
  running: Job[];
  /** Of the last hour. */
  hour: Series | null;
  names: Named[] | null;
  doctor: Doctor | null;
}

const LATE_MS = 60_000;
const LONG_WAIT_MS = 15 * 60_000;
const MOST_SLOW = 3;

/** Only what is wrong: on a good day this is not there. */
export function Attention(known: Known) {
  const notes = [
    ...queueNotes(known.workers),
    ...deadNotes(known.hour),
    ...slowNotes(known),
    ...scheduleNotes(known.schedules),
    ...doctorNotes(known.doctor),
  ];
  if (notes.length === 0) return null;
  return (
    <ul class="attention" aria-label="Needs attention">
      {notes.map((note, i) => (
        <li key={i}>
          <Icon name="warning" />
          <span>{note}</span>
        </li>
      ))}
    </ul>
  );
}

const waits = (count: number): string => `${plural(count, 'job')} ${count === 1 ? 'waits' : 'wait'}`;

function queueNotes(workers: Worker[] | null): ComponentChildren[] {
  if (workers === null) return [];
  const serves = (name: string): boolean =>
    workers.some((worker) => worker.queues.includes('*') || worker.queues.includes(name));
  const work = (queues.value ?? []).filter(({ jobs }) => jobs.pending + jobs.failed > 0);
  if (workers.length === 0 && work.length > 0) {
    const waiting = work.reduce((sum, { jobs }) => sum + jobs.pending + jobs.failed, 0);
    return [
      <>
        {waits(waiting)}, and no worker is running: <code>queuectl worker start</code>
      </>,
    ];
  }
  return work.flatMap(({ name, paused, jobs, oldest_waiting_at: oldest }) => {
    const link = <a href={`/queues/${part(name)}`}>{visible(name)}</a>;
    if (paused || !serves(name))
      return [
        <>
          {link} {paused ? 'is paused' : 'is served by no worker'}, and {waits(jobs.pending + jobs.failed)} in
          it
        </>,
      ];
    const since = oldest === null ? 0 : now.value - Date.parse(oldest);
    if (since < LONG_WAIT_MS) return [];
    return [
      <>
        The oldest job of {link} has been waiting for {wholeDuration(since)}
      </>,
    ];
  });
}

function deadNotes(hour: Series | null): ComponentChildren[] {
  const dead = hour?.total.dead ?? 0;
  if (dead === 0) return [];
  return [
    <>
      <a href="/dlq">{plural(dead, 'job')}</a> died within the last hour
    </>,
  ];
}

function slowNotes({ running, names }: Known): ComponentChildren[] {
  const slow = running.filter((job) => isSlow(job, names));
  return slow.slice(0, MOST_SLOW).map((job) => (
    <>
      <a href={`/jobs/${part(job.id)}`}>{job.id}</a> has been running for {wholeDuration(ranFor(job))}; 99 of
      100 of {visible(job.name ?? 'its queue')} take less than {duration(usual(job, names)?.p99)}
    </>
  ));
}

function scheduleNotes(schedules: Schedule[] | null): ComponentChildren[] {
  return (schedules ?? [])
    .filter(
      ({ paused, next_run_at }) =>
        !paused && next_run_at !== null && Date.parse(next_run_at) < now.value - LATE_MS,
    )
    .map(({ name }) => (
      <>
        Schedule <a href={`/schedules/${part(name)}`}>{visible(name)}</a> is late: a worker makes its jobs
      </>
    ));
}

/** What was said above, and what belongs to the machine rather than to the moment. */
const SAID = ['workers', 'user'];

function doctorNotes(doctor: Doctor | null): ComponentChildren[] {
  return (doctor?.checks ?? [])
    .filter(({ check, status }) => status !== 'ok' && !SAID.includes(check))
    .map(({ check, says, fix }) => (
      <>
        <a href="/doctor">{check}</a>: {visible(says)}
        {fix === null ? null : (
          <>
            {' '}
            (<code>{visible(fix)}</code>)
          </>
        )}
      </>
    ));
}
