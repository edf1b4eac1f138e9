import type { ComponentChildren } from 'preact';
import { part } from '../api.ts';
import { number, visible } from '../format.ts';
import { now, queues } from '../store.ts';
import type { Schedule, Worker } from '../types.ts';
import { Icon } from './icon.tsx';

interface Known {
  workers: Worker[] | null;
  schedules: Schedule[] | null;
}

const LATE_MS = 60_000;

/** Only what is wrong: on a good day this is not there. */
export function Attention({ workers, schedules }: Known) {
  const notes = [...queueNotes(workers), ...scheduleNotes(schedules)];
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

function queueNotes(workers: Worker[] | null): ComponentChildren[] {
  if (workers === null) return [];
  const serves = (name: string): boolean =>
    workers.some((worker) => worker.queues.includes('*') || worker.queues.includes(name));
  const work = (queues.value ?? []).filter(({ jobs }) => jobs.pending + jobs.failed > 0);
  if (workers.length === 0 && work.length > 0) {
    const waiting = work.reduce((sum, { jobs }) => sum + jobs.pending + jobs.failed, 0);
    return [
      <>
        {number(waiting)} jobs wait, and no worker is running: <code>queuectl worker start</code>
      </>,
    ];
  }
  return work
    .filter(({ name, paused }) => paused || !serves(name))
    .map(({ name, paused, jobs }) => (
      <>
        <a href={`/jobs?queue=${part(name)}`}>{visible(name)}</a>{' '}
        {paused ? 'is paused' : 'is served by no worker'}, and {number(jobs.pending + jobs.failed)} jobs wait
        in it
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
        Schedule <a href="/schedules">{visible(name)}</a> is late: a worker makes its jobs
      </>
    ));
}
