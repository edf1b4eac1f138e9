import type { TimesObject } from '../actions/preview-schedule.ts';
import { type ScheduleObject, toScheduleObject } from '../actions/schedule-object.ts';
import { type ClockChange, clockChange } from '../core/clock-change.ts';
import { exactDuration, formatDuration } from '../core/duration.ts';
import type { Schedule } from '../core/schedule.ts';
import { toIso } from '../core/time.ts';
import type { Io } from './io.ts';
import { type Column, printTable } from './table.ts';
import { pad, paint, printable } from './text.ts';
import { relative } from './times.ts';

export async function printSchedules(io: Io, schedules: Schedule[], now: number): Promise<void> {
  const objects = await Promise.all(schedules.map((schedule) => toScheduleObject(schedule, now)));
  if (io.json) io.out(`${JSON.stringify(objects)}\n`);
  else if (io.quiet) io.out(objects.map((one) => `${one.name}\n`).join(''));
  else printTable(io, columns(now), objects);
}

export async function printSchedule(io: Io, schedule: Schedule, now: number): Promise<void> {
  const one = await toScheduleObject(schedule, now);
  if (io.json) {
    io.out(`${JSON.stringify(one)}\n`);
    return;
  }
  printFacts(io, [...facts(one, now), ...clock(await clockChange(schedule.timing, now))], one.paused);
}

/** What a schedule would do. */
export function printTimes(io: Io, times: TimesObject, now: number): void {
  if (io.json) {
    io.out(`${JSON.stringify(times)}\n`);
    return;
  }
  const change = times.clock_change;
  printFacts(io, [
    ['when', when(times)],
    ...times.next_runs.map((at): [string, string] => ['next', moment(at, now)]),
    ...clock(change === null ? null : { at: Date.parse(change.at), says: change.says }),
  ]);
}

function clock(change: ClockChange | null): [string, string][] {
  return change === null ? [] : [['clocks', `${toIso(change.at)}: ${change.says}`]];
}

function printFacts(io: Io, all: [string, string][], paused = false): void {
  for (const [name, value] of all) {
    const shown = printable(value);
    const color = name === 'status' && paused && io.color;
    io.out(io.tty ? `${pad(name, 12)}  ${color ? paint(shown, 'yellow') : shown}\n` : `${name}\t${shown}\n`);
  }
}

/** Says what became of it: a sentence for a person, the name for a script. */
export async function sayChanged(io: Io, verb: string, schedule: Schedule, now: number): Promise<void> {
  if (io.json) return printSchedule(io, schedule, now);
  if (!io.tty || io.quiet) return io.out(`${printable(schedule.name)}\n`);
  const one = await toScheduleObject(schedule, now);
  const next =
    one.next_run_at === null || verb === 'removed' ? '' : `; next at ${moment(one.next_run_at, now)}`;
  io.out(`${verb} ${printable(one.name)}: ${when(one)}${next}\n`);
}

function columns(now: number): Column<ScheduleObject>[] {
  const time = (title: string, of: (one: ScheduleObject) => string | null) => ({
    title,
    value: (one: ScheduleObject) => of(one) ?? '-',
    look: (one: ScheduleObject) => (of(one) === null ? '-' : relative(Date.parse(of(one)!), now)),
  });
  return [
    { title: 'NAME', value: (one) => one.name },
    {
      title: 'STATUS',
      value: (one) => (one.paused ? 'paused' : 'active'),
      color: (one) => (one.paused ? 'yellow' : undefined),
    },
    { title: 'WHEN', value: (one) => one.cron ?? `every ${exactDuration(one.every_ms!)}` },
    { title: 'ZONE', value: (one) => one.timezone ?? '-', drop: 3 },
    time('NEXT', (one) => one.next_run_at),
    { ...time('LAST', (one) => one.last_run_at), drop: 1 },
    { title: 'QUEUE', value: (one) => one.queue, drop: 2 },
    { title: 'COMMAND', value: (one) => one.command, shrinks: true },
  ];
}

function facts(one: ScheduleObject, now: number): [string, string][] {
  const { job } = one;
  const pairs = (of: Record<string, string>): string =>
    Object.entries(of)
      .map(([key, value]) => `${key}=${value}`)
      .join(' ');
  const all: [string, string][] = [
    ['name', one.name],
    ['command', one.command],
    ['when', when(one)],
    ['status', one.paused ? `paused since ${one.paused_at} by ${one.paused_by}` : 'active'],
    ...one.next_runs.map((at): [string, string] => ['next', moment(at, now)]),
    ['last', one.last_run_at === null ? '' : `${moment(one.last_run_at, now)}, job ${one.last_job_id}`],
    ['waiting', one.waiting === 0 ? '' : `${one.waiting} ${one.waiting === 1 ? 'tick' : 'ticks'}`],
    ['overlap', one.overlap],
    ['catch-up', one.catch_up],
    ['queue', one.queue],
    ['priority', job.priority === 0 ? '' : String(job.priority)],
    ['max retries', job.max_retries === null ? '' : String(job.max_retries)],
    ['timeout', job.timeout_ms === null ? '' : formatDuration(job.timeout_ms)],
    ['directory', job.cwd ?? ''],
    ['environment', pairs(job.env)],
    ['tags', pairs(job.tags)],
  ];
  return all.filter(([, value]) => value !== '');
}

function when(one: Pick<ScheduleObject, 'cron' | 'timezone' | 'text'>): string {
  return one.cron === null ? one.text : `${one.cron} (${one.timezone}): ${one.text}`;
}

function moment(iso: string, now: number): string {
  return `${iso} (${relative(Date.parse(iso), now)})`;
}
