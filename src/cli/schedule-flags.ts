import { looksLikeJson, readCommand, readJsonJobs } from '../actions/read-jobs.ts';
import type { ScheduleChanges } from '../actions/schedule-changes.ts';
import { readScheduleInput, type ScheduleInput } from '../actions/schedule-input.ts';
import { QueueError } from '../core/errors.ts';
import { checkArgv, type JobInput } from '../core/job-fields.ts';
import type { ScheduleSpec } from '../core/schedule.ts';
import { required } from './arguments.ts';
import type { Flag, Input } from './command.ts';
import { fillFromFlags, JOB_FLAGS, readJobFlags } from './job-flags.ts';

/** A schedule's jobs get their ids and times from it, and wait for nobody. */
const { id: _, 'run-at': __, delay: ___, after: ____, 'on-parent-failure': _____, ...jobFlags } = JOB_FLAGS;

export const SCHEDULE_FLAGS: Record<string, Flag> = {
  cron: {
    value: 'EXPR',
    help: "minute hour day month weekday, such as '*/5 * * * *'; or @daily, @hourly, …",
  },
  tz: { value: 'ZONE', help: 'the time zone of --cron, such as Europe/Berlin (that of this machine)' },
  every: { value: 'TIME', help: 'evenly, instead of --cron: 90s, 5m, … from now on' },
  overlap: {
    value: 'WHAT',
    help: 'while its last job is unfinished: skip the tick, queue it, or allow both (skip)',
  },
  'catch-up': {
    value: 'WHICH',
    help: 'of ticks missed while no worker was there, make up for none, one or all (one)',
  },
  command: { value: 'TEXT', short: 'c', help: 'the shell command' },
  ...jobFlags,
};

const EXAMPLE = "queuectl schedule add nightly --cron '30 2 * * *' 'make backup'";

export function readScheduleSpec(
  input: Input,
  where: { environment: NodeJS.ProcessEnv; cwd: () => string },
  now: number,
): ScheduleSpec {
  const name = required(input, 0, 'the name of a schedule', EXAMPLE);
  const when = readScheduleInput(timingOf(input), now, called);
  const [job] = fillFromFlags([readJob(input, now)], readJobFlags(input, where, now));
  return { name, ...when, job: { ...job!, cwd: job!.cwd ?? where.cwd() } };
}

/** A field of a schedule is a flag here. */
const FLAGS: Record<keyof ScheduleInput, string> = {
  cron: 'cron',
  timezone: 'tz',
  every: 'every',
  overlap: 'overlap',
  catch_up: 'catch-up',
};

const called = (field: string): string => `--${FLAGS[field as keyof ScheduleInput]}`;

function timingOf(input: Input): ScheduleInput {
  return Object.fromEntries(
    Object.entries(FLAGS).flatMap(([field, flag]) => {
      const text = input.one(flag);
      return text === undefined ? [] : [[field, text]];
    }),
  );
}

/** What is given of a schedule that exists; its directory stays. */
export function readScheduleChanges(
  input: Input,
  where: { environment: NodeJS.ProcessEnv; cwd: () => string },
  now: number,
): { name: string } & ScheduleChanges {
  const name = required(
    input,
    0,
    'the name of a schedule',
    "queuectl schedule edit nightly --cron '0 3 * * *'",
  );
  const what = input.args[1] ?? input.one('command') ?? input.rest;
  const [job] = fillFromFlags(
    [what === undefined || what === null ? {} : readJob(input, now)],
    readJobFlags(input, where, now),
  );
  return { name, when: timingOf(input), job: job!, called };
}

/** One job in one of the forms that enqueue takes. */
function readJob(input: Input, now: number): JobInput {
  const text = input.args[1];
  const forms = [text, input.one('command'), input.rest ?? undefined].filter((form) => form !== undefined);
  if (forms.length !== 1) {
    const problem = forms.length === 0 ? 'a schedule needs a command' : 'give the command in one way only';
    throw new QueueError('usage', problem, EXAMPLE);
  }
  if (input.rest !== null) return { argv: checkArgv(input.rest, 'the command') };
  if (text === undefined || !looksLikeJson(text)) return readCommand(text ?? input.one('command')!);
  const { inputs, warnings } = readJsonJobs(text, now);
  const [job] = inputs;
  const problem = inputs.length === 1 ? warnings[0] : 'a schedule has one job';
  if (problem !== undefined) throw new QueueError('invalid-job', problem, 'queuectl help schedule add');
  return job!;
}
