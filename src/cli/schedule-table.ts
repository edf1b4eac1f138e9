import { toScheduleObject } from '../actions/schedule-object.ts';
import { type ClockChange, nextClockChange } from '../core/clock-change.ts';
import { exactDuration, formatDuration } from '../core/duration.ts';
import { maskEnv, maskUrls } from '../core/mask.ts';
import type { Schedule } from '../core/schedule.ts';
import { toIso } from '../core/time.ts';
import type { ScheduleObject, TimesObject } from '../core/wire.ts';
import { countOf } from '../core/words.ts';
import type { Io } from './io.ts';
import { jsonText } from './layout.ts';
import { type Listing, printList } from './print-list.ts';
import { type Pair, printPairs } from './table.ts';
import { printable } from './text.ts';
import { fullTimesFor, type TimeFormat } from './times.ts';

export async function printSchedules(io: Io, schedules: Schedule[], now: number): Promise<void> {
  const objects = await Promise.all(schedules.map((schedule) => toScheduleObject(schedule, now)));
  await printList(io, SCHEDULE_LIST, objects, now);
}

export async function printSchedule(io: Io, schedule: Schedule, now: number): Promise<void> {
  const object = await toScheduleObject(schedule, now);
  if (io.json) return io.out(`${jsonText(io, object)}\n`);
  const all = [
    ...schedulePairs(object, fullTimesFor(io, now)),
    ...clockPairs(await nextClockChange(schedule.timing, now)),
  ];
  printPairs(io, all, ([name]) => (name === 'status' && object.paused ? 'yellow' : undefined));
}

/** Prints the next runs of a schedule that is only previewed. */
export function printNextRuns(io: Io, times: TimesObject, now: number): void {
  if (io.json) {
    io.out(`${jsonText(io, times)}\n`);
    return;
  }
  const change = times.clock_change;
  printPairs(io, [
    ['when', timingText(times)],
    ...times.next_runs.map((at): Pair => ['next', fullTimesFor(io, now).text(at)]),
    ...clockPairs(change === null ? null : { at: Date.parse(change.at), says: change.says }),
  ]);
}

function clockPairs(change: ClockChange | null): Pair[] {
  return change === null ? [] : [['clock change', `${toIso(change.at)}: ${change.says}`]];
}

/** Prints a changed schedule: as JSON with --json, in a sentence on a terminal, else only its name. */
export async function printScheduleChange(
  io: Io,
  participle: string,
  schedule: Schedule,
  now: number,
): Promise<void> {
  if (io.json) return printSchedule(io, schedule, now);
  if (!io.tty || io.quiet) return io.out(`${printable(schedule.name)}\n`);
  const object = await toScheduleObject(schedule, now);
  const next =
    object.next_run_at === null || participle === 'removed'
      ? ''
      : `; next run ${fullTimesFor(io, now).text(object.next_run_at)}`;
  io.out(`${participle} schedule ${printable(object.name)}: ${timingText(object)}${next}\n`);
}

const SCHEDULE_LIST: Listing<ScheduleObject> = {
  id: (one) => one.name,
  columns: (times) => [
    { title: 'NAME', value: (one) => one.name, shortens: true },
    {
      title: 'STATUS',
      value: (one) => (one.paused ? 'paused' : 'active'),
      color: (one) => (one.paused ? 'yellow' : undefined),
      drop: 0,
    },
    { title: 'WHEN', value: (one) => one.cron ?? `every ${exactDuration(one.every_ms!)}` },
    { title: 'TIME ZONE', value: (one) => one.timezone ?? '-', drop: 3 },
    { title: 'NEXT RUN', value: (one) => times.text(one.next_run_at) || '-' },
    { title: 'LAST RUN', value: (one) => times.text(one.last_run_at) || '-', drop: 1 },
    { title: 'QUEUE', value: (one) => one.queue, drop: 2 },
    { title: 'COMMAND', value: (one) => maskUrls(one.command), shrinks: true },
  ],
};

function schedulePairs(one: ScheduleObject, times: TimeFormat): Pair[] {
  const { job } = one;
  const pairs = (values: Record<string, string>): string =>
    Object.entries(values)
      .map(([key, value]) => `${key}=${value}`)
      .join(' ');
  const all: Pair[] = [
    ['name', one.name],
    ['command', maskUrls(one.command)],
    ['when', timingText(one)],
    ['status', one.paused ? `paused since ${one.paused_at} by ${one.paused_by}` : 'active'],
    ...one.next_runs.map((at): Pair => ['next', times.text(at)]),
    ['last run', one.last_run_at === null ? '' : `${times.text(one.last_run_at)}, job ${one.last_job_id}`],
    ['waiting runs', one.waiting === 0 ? '' : countOf(one.waiting, 'run')],
    ['overlap', one.overlap],
    ['catch-up', one.catch_up],
    ['queue', one.queue],
    ['priority', job.priority === 0 ? '' : String(job.priority)],
    ['max retries', job.max_retries === null ? '' : String(job.max_retries)],
    ['timeout', job.timeout_ms === null ? '' : formatDuration(job.timeout_ms)],
    ['directory', job.cwd ?? ''],
    ['environment', pairs(maskEnv(job.env))],
    ['tags', pairs(job.tags)],
  ];
  return all.filter(([, value]) => value !== '');
}

function timingText(one: Pick<ScheduleObject, 'cron' | 'timezone' | 'text'>): string {
  return one.cron === null ? one.text : `${one.text} (${one.cron}, ${one.timezone})`;
}
