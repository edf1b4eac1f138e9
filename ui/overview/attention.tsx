import type { ComponentChildren } from 'preact';
import { part } from '../frame/api.ts';
import { now, queues } from '../frame/store.ts';
import { Fill } from '../parts/fill.tsx';
import { duration, elapsed, plural, sentence, visible } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { rowLook } from '../parts/show-new.tsx';
import { useSteady } from '../parts/steady.ts';
import type { Doctor, Job, NamedFigures, Schedule, Series, WaitingCount, Worker } from '../types.ts';
import { ATTENTION } from '../words/overview.ts';
import { takesJobs } from '../workers/serving.ts';
import { isSlow, ranFor, usualTimes } from './running.tsx';

interface AttentionProps {
  workers: Worker[] | null;
  waiting: WaitingCount[] | null;
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
    ...queueNotes(known.workers, known.waiting),
    ...deadNotes(known.hour),
    ...slowNotes(known),
    ...scheduleNotes(known.schedules),
    ...doctorNotes(known.doctor),
  ];
  // While the pointer is on this list, a problem that is gone keeps its place. A new one is shown at once.
  const list = useSteady('attention', notes, ([key]) => key);
  const shown = [...list.rows, ...list.fresh];
  if (shown.length === 0) return null;
  return (
    <ul class="attention" {...list.box} aria-label={ATTENTION.title}>
      {shown.map(([key, note]) => (
        <li key={key} {...rowLook(list.gone.has(key))}>
          <Icon name="warning" />
          <span>{note}</span>
        </li>
      ))}
    </ul>
  );
}

const waits = (count: number): string => ATTENTION.waiting(count, plural(count, 'job'));

/** Reports due jobs that no worker can take. Jobs that are held, blocked or not due yet need no attention. */
function queueNotes(workers: Worker[] | null, waiting: WaitingCount[] | null): Note[] {
  if (workers === null || waiting === null) return [];
  if (workers.some(takesJobs)) return waiting.flatMap(queueNote);
  const unserved = waiting.reduce((sum, { jobs }) => sum + jobs.no_worker, 0);
  const text = workers.length === 0 ? ATTENTION.noWorker : ATTENTION.allStopping;
  const command = <code>queuectl worker start</code>;
  return [
    ...(unserved === 0
      ? []
      : [['no worker', <Fill text={text} waiting={waits(unserved)} command={command} />] as Note]),
    ...waiting.filter(({ jobs }) => jobs.no_worker === 0).flatMap(queueNote),
  ];
}

function queueNote({ queue, jobs }: WaitingCount): Note[] {
  const link = <a href={`/queues/${part(queue)}`}>{visible(queue)}</a>;
  const stuck = jobs.queue_paused + jobs.no_worker;
  if (stuck > 0) {
    const text = jobs.queue_paused > 0 ? ATTENTION.paused : ATTENTION.notServed;
    return [[`queue ${queue}`, <Fill text={text} queue={link} waiting={waits(stuck)} />]];
  }
  const oldest = queues.value?.find(({ name }) => name === queue)?.oldest_waiting_at ?? null;
  const since = oldest === null ? 0 : now.value - Date.parse(oldest);
  if (since < LONG_WAIT_MS) return [];
  return [[`queue ${queue}`, <Fill text={ATTENTION.oldest} queue={link} time={elapsed(since)} />]];
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
