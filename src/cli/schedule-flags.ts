import { looksLikeJson, readCommand, readJsonJobs } from '../actions/read-jobs.ts';
import type { ScheduleChanges } from '../actions/schedule-changes.ts';
import { readScheduleInput, type ScheduleInput } from '../actions/schedule-input.ts';
import { QueueError } from '../core/errors.ts';
import { JOB_FIELDS } from '../core/job-fields.ts';
import type { JobInput } from '../core/job-input.ts';
import type { ScheduleSpec } from '../core/schedule.ts';
import { required } from './arguments.ts';
import { type Flag, type Input, inGroup } from './command.ts';
import { fillFromFlags, readJobFlags, scheduledFlags } from './job-flags.ts';

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
    every: {
      value: 'TIME',
      help: 'fixed interval between runs, such as 90s or 5m, instead of --cron',
    },
    overlap: {
      value: 'skip|queue|allow',
      help: 'if the previous job is unfinished: skip the run, queue it, or allow both to run (default: skip)',
    },
    'catch-up': {
      value: 'none|one|all',
      help: 'which runs to make up for if no worker was running: none, the most recent one, or all (default: one)',
    },
  }),
  ...scheduledFlags(),
};

const EXAMPLE = "queuectl schedule add nightly --cron '30 2 * * *' 'make backup'";

export function readScheduleSpec(
  input: Input,
  where: { environment: NodeJS.ProcessEnv; cwd: () => string },
  now: number,
): ScheduleSpec {
  const name = required(input, 0, 'the schedule name', EXAMPLE);
  const when = readScheduleInput(timingOf(input), now, called);
  const [job] = fillFromFlags([readJob(input, now)], readJobFlags(input, where, now));
  return { name, ...when, job: { ...job!, cwd: job!.cwd ?? where.cwd() } };
}

/** The flag for each field of a schedule. */
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

/** Reads the changes to an existing schedule. Its directory stays the same. */
export function readScheduleChanges(
  input: Input,
  where: { environment: NodeJS.ProcessEnv; cwd: () => string },
  now: number,
): { name: string } & ScheduleChanges {
  const name = required(input, 0, 'the schedule name', "queuectl schedule edit nightly --cron '0 3 * * *'");
  const what = input.args[1] ?? input.one('command') ?? input.rest;
  const [job] = fillFromFlags(
    [what === undefined || what === null ? {} : readJob(input, now)],
    readJobFlags(input, where, now),
  );
  return { name, when: timingOf(input), job: job!, called };
}

/** Reads one job in one of the forms that enqueue takes. */
function readJob(input: Input, now: number): JobInput {
  const text = input.args[1];
  const forms = [text, input.one('command'), input.rest ?? undefined].filter((form) => form !== undefined);
  if (forms.length !== 1) {
    const problem =
      forms.length === 0
        ? 'a schedule requires a command'
        : 'give the command only once: as an argument, with --command or after --';
    throw new QueueError('usage', problem, EXAMPLE);
  }
  if (input.rest !== null) return { argv: JOB_FIELDS.argv.read(input.rest, 'the command') };
  if (text === undefined || !looksLikeJson(text)) return readCommand(text ?? input.one('command')!);
  const { inputs, warnings } = readJsonJobs(text, now);
  const [job] = inputs;
  const problem = inputs.length === 1 ? warnings[0] : 'a schedule takes exactly one job';
  if (problem !== undefined) throw new QueueError('invalid-job', problem, 'queuectl help schedule add');
  return job!;
}
