import { looksLikeJson, readCommand, readJsonJobs } from '../actions/read-jobs.ts';
import { parseDuration } from '../core/duration.ts';
import { QueueError } from '../core/errors.ts';
import { checkArgv, type JobInput } from '../core/job-input.ts';
import { nearest } from '../core/nearest.ts';
import { checkNumber } from '../core/numbers.ts';
import { CATCH_UPS, OVERLAPS, type ScheduleSpec, type Timing } from '../core/schedule.ts';
import { RANGES } from '../core/settings.ts';
import { localZone } from '../core/zone.ts';
import { required } from './arguments.ts';
import type { Flag, Input } from './command.ts';
import { fillFromFlags, JOB_FLAGS, readJobFlags } from './job-flags.ts';

/** A schedule's jobs get their ids and times from it. */
const { id: _, 'run-at': __, delay: ___, ...jobFlags } = JOB_FLAGS;

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
const SHORTEST_MS = 1000;

export function readScheduleSpec(
  input: Input,
  where: { environment: NodeJS.ProcessEnv; cwd: () => string },
  now: number,
): ScheduleSpec {
  const name = required(input, 0, 'the name of a schedule', EXAMPLE);
  const timing = readTiming(input, now);
  const overlap = choice(input, 'overlap', OVERLAPS, 'skip');
  const catchUp = choice(input, 'catch-up', CATCH_UPS, 'one');
  const [job] = fillFromFlags([readJob(input, now)], readJobFlags(input, where, now));
  return { name, timing, overlap, catchUp, job: { ...job!, cwd: job!.cwd ?? where.cwd() } };
}

function readTiming(input: Input, now: number): Timing {
  const cron = input.one('cron');
  const every = input.one('every');
  if ((cron === undefined) === (every === undefined)) {
    const problem = cron === undefined ? 'needs --cron or --every' : 'takes --cron or --every, not both';
    throw new QueueError('usage', `schedule add ${problem}`, EXAMPLE);
  }
  if (cron !== undefined) return { kind: 'cron', cron: cron.trim(), zone: input.one('tz') ?? localZone() };
  if (input.has('tz')) throw new QueueError('usage', '--tz belongs to --cron; --every knows no zone');
  const range = { ...RANGES.durationMs, min: SHORTEST_MS };
  const everyMs = checkNumber(parseDuration(every!, '--every'), '--every (in ms)', range, every);
  // Whole seconds, for times that can be read.
  return { kind: 'every', everyMs, anchorAt: Math.floor(now / 1000) * 1000 };
}

function choice<T extends string>(input: Input, flag: string, known: readonly T[], fallback: T): T {
  const text = input.one(flag);
  if (text === undefined) return fallback;
  const found = known.find((one) => one === text.trim().toLowerCase());
  if (found !== undefined) return found;
  const guess = nearest(text, known);
  throw new QueueError(
    'invalid-value',
    `--${flag} must be ${known.join(', ')}, not '${text}'${guess === null ? '' : `; did you mean '${guess}'?`}`,
  );
}

/** One job in one of the forms that enqueue takes. */
function readJob(input: Input, now: number): JobInput {
  const text = input.args[1];
  const forms = [text, input.one('command'), input.rest ?? undefined].filter((form) => form !== undefined);
  if (forms.length !== 1) {
    const problem = forms.length === 0 ? 'schedule add needs a command' : 'give the command in one way only';
    throw new QueueError('usage', problem, EXAMPLE);
  }
  if (input.rest !== null) return { argv: checkArgv(input.rest, 'the command') };
  if (text === undefined || !looksLikeJson(text)) return readCommand(text ?? input.one('command')!);
  const { inputs, warnings } = readJsonJobs(text, now);
  const [job] = inputs;
  const problem =
    inputs.length !== 1
      ? 'a schedule has one job'
      : job!.id !== undefined || job!.runAt !== undefined || job!.idempotencyKey !== undefined
        ? 'the job of a schedule has no id, no time and no key of its own'
        : warnings[0];
  if (problem !== undefined) throw new QueueError('invalid-job', problem, 'queuectl help schedule add');
  return job!;
}
