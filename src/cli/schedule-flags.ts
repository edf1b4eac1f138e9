import { looksLikeJson, readCommand } from '../actions/read-command.ts';
import { readJsonJobs } from '../actions/read-jobs.ts';
import { readScheduleInput, type ScheduleChanges, type ScheduleInput } from '../actions/schedule-input.ts';
import { QueueError, usageError } from '../core/errors.ts';
import { JOB_FIELDS } from '../core/job-fields.ts';
import type { JobInput } from '../core/job-input.ts';
import type { ScheduleSpec } from '../core/schedule.ts';
import { type Flag, type Input, inGroup } from './command.ts';
import { type CallerEnvironment, fillFromFlags, readJobFlags, scheduledJobFlags } from './job-flags.ts';

export const SCHEDULE_FLAGS: Record<string, Flag> = {
  ...inGroup('Schedule', {
    cron: {
      value: 'EXPR',
      help: "cron expression (minute, hour, day, month, weekday) such as '*/5 * * * *', or a shorthand such as @daily",
    },
    tz: {
      value: 'ZONE',
      help: 'time zone for --cron, such as Europe/Berlin (default: the time zone of this machine)',
    },
    every: { value: 'TIME', help: 'fixed interval between runs, such as 90s or 5m, instead of --cron' },
    overlap: {
      value: 'skip|queue|allow',
      help: 'if the previous job is unfinished: skip the run, queue it, or allow both to run (default: skip)',
    },
    'catch-up': {
      value: 'none|one|all',
      help: 'which missed runs to enqueue after a time without workers: none, the most recent one, or all (default: one)',
    },
  }),
  ...scheduledJobFlags(),
};

const EXAMPLE_HINT = "for example: queuectl schedule add nightly --cron '30 2 * * *' 'make backup'";

export function readScheduleSpec(input: Input, caller: CallerEnvironment, now: number): ScheduleSpec {
  const name = input.required(0, 'the schedule name', EXAMPLE_HINT);
  const when = readScheduleInput(readScheduleFlags(input), now, flagOf);
  const [job] = fillFromFlags([readJob(input, now)], readJobFlags(input, caller, now));
  return { name, ...when, job: { ...job!, cwd: job!.cwd ?? caller.cwd } };
}

/** The flag for each field of a schedule. */
const FLAG_BY_FIELD: Record<keyof ScheduleInput, string> = {
  cron: 'cron',
  timezone: 'tz',
  every: 'every',
  overlap: 'overlap',
  catch_up: 'catch-up',
};

const flagOf = (field: string): string => `--${FLAG_BY_FIELD[field as keyof ScheduleInput]}`;

function readScheduleFlags(input: Input): ScheduleInput {
  return Object.fromEntries(
    Object.entries(FLAG_BY_FIELD).flatMap(([field, flag]) => {
      const text = input.one(flag);
      return text === undefined ? [] : [[field, text]];
    }),
  );
}

/** Reads the changes to an existing schedule. Without --cwd, the job keeps its directory. */
export function readScheduleChanges(
  input: Input,
  caller: CallerEnvironment,
  now: number,
): { name: string } & ScheduleChanges {
  const name = input.required(
    0,
    'the schedule name',
    "for example: queuectl schedule edit nightly --cron '0 3 * * *'",
  );
  const command = input.args[1] ?? input.one('command') ?? input.rest;
  const [job] = fillFromFlags(
    [command === undefined || command === null ? {} : readJob(input, now)],
    readJobFlags(input, caller, now),
  );
  return { name, schedule: readScheduleFlags(input), job: job!, nameOf: flagOf };
}

/** Reads the job from one of: an argument (a command or JSON), --command, or the arguments after `--`. */
function readJob(input: Input, now: number): JobInput {
  const text = input.args[1];
  const forms = [text, input.one('command'), input.rest ?? undefined].filter((form) => form !== undefined);
  if (forms.length === 0) throw usageError('a schedule requires a command', EXAMPLE_HINT);
  if (forms.length > 1)
    throw usageError(
      'the command is given more than once',
      'use only one of these: an argument, --command, or arguments after --',
    );
  if (input.rest !== null) return { argv: JOB_FIELDS.argv.read(input.rest, 'the command') };
  if (text === undefined || !looksLikeJson(text)) return readCommand(text ?? input.one('command')!);
  const { inputs, warnings } = readJsonJobs(text, now);
  const [job] = inputs;
  const problem = inputs.length === 1 ? warnings[0] : 'a schedule must have exactly one job';
  if (problem !== undefined)
    throw new QueueError('invalid-job', problem, 'for help: queuectl help schedule add');
  return job!;
}
