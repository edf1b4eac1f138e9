import type { ComponentChildren } from 'preact';
import { part } from '../api.ts';
import { duration, elapsed, plural, sentence, visible } from '../format.ts';
import { useSteady } from '../steady.ts';
import { now, queues } from '../store.ts';
import type { Doctor, Job, NamedFigures, Schedule, Series, Worker } from '../types.ts';
import { ATTENTION } from '../words/overview.ts';
import { Fill } from './fill.tsx';
import { Icon } from './icon.tsx';
import { isSlow, ranFor, usualTimes } from './running.tsx';

interface AttentionProps {
  workers: Worker[] | null;
  schedules: Schedule[] | null;
  running: Job[];
  /** The figures of the last hour. */
  hour: Series | null;
  names: NamedFigures[] | null;
  doctor: Doctor | null;
}

const LATE_MS = 60_000;
const LONG_WAIT_MS = 15 * 60_000;
const MOST_SLOW = 3;

/** A problem, with a key that stays the same as long as the problem lasts. */
type Note = [key: string, text: ComponentChildren];

/** Lists problems. Shows nothing if there are none. */
export function Attention(known: AttentionProps) {
  const notes = [
    ...queueNotes(known.workers),
    ...deadNotes(known.hour),
    ...slowNotes(known),
    ...scheduleNotes(known.schedules),
    ...doctorNotes(known.doctor),
  ];
  // A problem that appears or disappears would move the lists below.
  const { rows } = useSteady(notes, ([key]) => key);
  if (rows.length === 0) return null;
  return (
    <ul class="attention" aria-label={ATTENTION.title}>
      {rows.map(([key, note]) => (
        <li key={key}>
          <Icon name="warning" />
          <span>{note}</span>
        </li>
      ))}
    </ul>
  );
}

const waits = (count: number): string => ATTENTION.waiting(count, plural(count, 'job'));

function queueNotes(workers: Worker[] | null): Note[] {
  if (workers === null) return [];
  const serves = (name: string): boolean =>
    workers.some((worker) => worker.queues.includes('*') || worker.queues.includes(name));
  const work = (queues.value ?? []).filter(({ jobs }) => jobs.pending + jobs.failed > 0);
  if (workers.length === 0 && work.length > 0) {
    const waiting = work.reduce((sum, { jobs }) => sum + jobs.pending + jobs.failed, 0);
    const command = <code>queuectl worker start</code>;
    return [['no worker', <Fill text={ATTENTION.noWorker} waiting={waits(waiting)} command={command} />]];
  }
  return work.flatMap(({ name, paused, jobs, oldest_waiting_at: oldest }): Note[] => {
    const link = <a href={`/queues/${part(name)}`}>{visible(name)}</a>;
    if (paused || !serves(name))
      return [
        [
          `queue ${name}`,
          <Fill
            text={paused ? ATTENTION.paused : ATTENTION.notServed}
            queue={link}
            waiting={waits(jobs.pending + jobs.failed)}
          />,
        ],
      ];
    const since = oldest === null ? 0 : now.value - Date.parse(oldest);
    if (since < LONG_WAIT_MS) return [];
    return [[`queue ${name}`, <Fill text={ATTENTION.oldest} queue={link} time={elapsed(since)} />]];
  });
}

function deadNotes(hour: Series | null): Note[] {
  const dead = hour?.total.dead ?? 0;
  if (dead === 0) return [];
  return [['dead', <Fill text={ATTENTION.died} jobs={<a href="/dlq">{plural(dead, 'job')}</a>} />]];
}

function slowNotes({ running, names }: AttentionProps): Note[] {
  const slow = running.filter((job) => isSlow(job, names));
  return slow
    .slice(0, MOST_SLOW)
    .map((job) => [
      `job ${job.id}`,
      <Fill
        text={job.name === null ? ATTENTION.slowUnnamed : ATTENTION.slow}
        job={<a href={`/jobs/${part(job.id)}`}>{job.id}</a>}
        time={elapsed(ranFor(job))}
        name={visible(job.name ?? '')}
        p99={duration(usualTimes(job, names)?.p99)}
      />,
    ]);
}

function scheduleNotes(schedules: Schedule[] | null): Note[] {
  return (schedules ?? [])
    .filter(
      ({ paused, next_run_at }) =>
        !paused && next_run_at !== null && Date.parse(next_run_at) < now.value - LATE_MS,
    )
    .map(({ name }) => [
      `schedule ${name}`,
      <Fill text={ATTENTION.late} schedule={<a href={`/schedules/${part(name)}`}>{visible(name)}</a>} />,
    ]);
}

/** Checks that are not repeated here: the notes above cover the workers, and `user` describes the machine. */
const HIDDEN_CHECKS = ['workers', 'user'];

function doctorNotes(doctor: Doctor | null): Note[] {
  return (doctor?.checks ?? [])
    .filter(({ check, status }) => status !== 'ok' && !HIDDEN_CHECKS.includes(check))
    .map(({ check, says, fix }) => [
      `check ${check}`,
      <Fill
        text={fix === null ? ATTENTION.finding : ATTENTION.findingWithFix}
        check={<a href="/doctor">{sentence(check)}</a>}
        result={visible(says)}
        fix={<code>{visible(fix ?? '')}</code>}
      />,
    ]);
}
