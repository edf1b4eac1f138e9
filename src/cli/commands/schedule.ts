import type { App } from '../../actions/app.ts';
import { actorOf } from '../../actions/app.ts';
import { jobObject } from '../../actions/jobs/jobs.ts';
import {
  addSchedule,
  checkSchedule,
  editSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
  previewSchedule,
  readScheduleInput,
  removeSchedule,
  resumeSchedule,
  runSchedule,
  type ScheduleChanges,
  toScheduleObject,
} from '../../actions/schedules.ts';
import { QueueError, usageError } from '../../core/errors.ts';
import type { JobInput } from '../../core/jobs/job-input.ts';
import type { Schedule, ScheduleInput, ScheduleSpec } from '../../core/schedules/schedule.ts';
import { maskEnv, maskUrls } from '../../core/text/mask.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { countOf } from '../../core/text/words.ts';
import { exactDuration, formatDuration } from '../../core/time/duration.ts';
import type { ScheduleObject, TimesObject } from '../../core/wire/wire.ts';
import {
  type Command,
  type Context,
  defineCommand,
  type Flag,
  type Input,
  inGroup,
} from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { fillFromFlags, readJobFlags, scheduledJobFlags, withoutDefaults } from '../frame/job-flags.ts';
import { describeAdded } from '../print/job-table.ts';
import { printJson, printResult } from '../print/layout.ts';
import {
  fullTimesFor,
  type Listing,
  listAll,
  listFlags,
  TIME_FLAGS,
  type TimeFormat,
} from '../print/print-list.ts';
import { type Pair, printPairs } from '../print/table.ts';
import { printable } from '../print/text.ts';
import { readInput, warnOfSecrets } from './enqueue.ts';

const SCHEDULE_FLAGS: Record<string, Flag> = {
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

async function readScheduleSpec(input: Input, context: Context, now: number): Promise<ScheduleSpec> {
  const name = input.required(0, 'the schedule name', EXAMPLE_HINT);
  const when = readScheduleInput(readScheduleFlags(input), now, flagOf);
  const command = await readCommandGiven(input, now);
  if (command === null) throw usageError('a schedule requires a command', EXAMPLE_HINT);
  const [job] = fillFromFlags([command], readJobFlags(input, context, now));
  return { name, ...when, job: { ...job!, cwd: job!.cwd ?? context.cwd } };
}

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

/** Reads the job, which is given in one way. Returns null if there is none. */
async function readCommandGiven(input: Input, now: number): Promise<JobInput | null> {
  const text = input.args[1];
  const forms = [text, input.one('command'), input.rest ?? undefined].filter((form) => form !== undefined);
  if (forms.length === 0) return null;
  if (forms.length > 1)
    throw usageError(
      'the command is given more than once',
      'use only one of these: an argument, --command, or arguments after --',
    );
  const { inputs, warnings } = (await readInput(input, text, now)).read;
  const problem = inputs.length === 1 ? warnings[0] : 'a schedule must have exactly one job';
  if (problem !== undefined)
    throw new QueueError('invalid-job', problem, 'for help: queuectl help schedule add');
  return inputs[0]!;
}

const add = defineCommand({
  name: 'schedule add',
  summary: 'Create a schedule (cron expression or fixed interval)',
  args: 'NAME (COMMAND | -- PROGRAM ARG…)',
  access: 'write',
  creates: true,
  flags: {
    ...SCHEDULE_FLAGS,
    'dry-run': { group: 'Schedule', help: 'show the next runs without creating the schedule' },
  },
  prints: { object: 'Schedule' },
  examples: [
    '# Run every night at 02:30, Tokyo time',
    "queuectl schedule add nightly --cron '30 2 * * *' --tz Asia/Tokyo './backup'",
    '# Run every 90 seconds',
    'queuectl schedule add ping --every 90s -- curl -fsS https://example.org',
    '# Run on weekdays, and make up for all missed runs',
    "queuectl schedule add report --cron '0 9 * * mon-fri' --catch-up all ./report",
    '# Show the next runs without creating the schedule',
    "queuectl schedule add x --cron '0 0 29 2 *' --dry-run ./backup",
  ],
  notes: [
    'Workers enqueue the jobs of a schedule, so a worker must be running. Each job can read its scheduled time from the environment variable QUEUECTL_SCHEDULED_AT.',
    "See 'queuectl help cron' for the syntax of cron expressions and the effect of daylight saving time.",
  ],
  async run(context, input) {
    const now = Date.now();
    const spec = await readScheduleSpec(input, context, now);
    // The schedule is checked before the store opens, so that bad input creates no file.
    await checkSchedule(spec, now);
    if (input.has('dry-run')) {
      printNextRuns(context.io, await previewSchedule(spec.timing, now), now);
      return;
    }
    await warnOfSecrets(context.io, [spec.job]);
    const app = await context.app();
    await printScheduleChange(context.io, 'added', await addSchedule(app, spec), app.clock.now());
  },
});

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

const list = defineCommand({
  name: 'schedule list',
  summary: 'List schedules with their next runs',
  flags: listFlags('{name}\\t{next_run_at}'),
  prints: { object: 'Schedule' },
  examples: ['queuectl schedule list', 'queuectl schedule list --json=name,next_run_at'],
  run: listAll(
    SCHEDULE_LIST,
    async (app) =>
      Promise.all((await listSchedules(app)).map((one) => toScheduleObject(one, app.clock.now()))),
    'no schedules yet. To learn how to create one: queuectl help schedule add',
  ),
});

const show = defineCommand({
  name: 'schedule show',
  summary: 'Show a schedule with its next five runs',
  args: 'NAME',
  flags: TIME_FLAGS,
  prints: { object: 'Schedule' },
  examples: ['queuectl schedule show nightly', 'queuectl schedule show nightly --json'],
  async run({ io, app }, input) {
    const name = nameOf(input);
    const opened = await app();
    await printSchedule(io, await getSchedule(opened, name), opened.clock.now());
  },
});

const edit = defineCommand({
  name: 'schedule edit',
  summary: 'Change a schedule or its job',
  args: 'NAME [COMMAND | -- PROGRAM ARG…]',
  access: 'write',
  flags: withoutDefaults(SCHEDULE_FLAGS),
  examples: [
    "queuectl schedule edit nightly --cron '0 3 * * *'",
    "queuectl schedule edit nightly --tz Asia/Tokyo --overlap queue 'make backup'",
  ],
  notes: [
    'Values that you do not specify stay unchanged, but --tag and --env replace all earlier tags and variables. Jobs that are already enqueued are not affected.',
  ],
  async run(context, input) {
    const hint = "for example: queuectl schedule edit nightly --cron '0 3 * * *'";
    const name = input.required(0, 'the schedule name', hint);
    const now = Date.now();
    // Without --cwd, the job keeps its directory.
    const [job] = fillFromFlags(
      [(await readCommandGiven(input, now)) ?? {}],
      readJobFlags(input, context, now),
    );
    const changes: ScheduleChanges = { schedule: readScheduleFlags(input), job: job!, nameOf: flagOf };
    const app = await context.app();
    await printScheduleChange(context.io, 'edited', await editSchedule(app, name, changes), app.clock.now());
  },
});

/** Returns a command that changes the schedule with the given name. `participle` says in the output what it did. */
function changeCommand(
  verb: string,
  participle: string,
  summary: string,
  change: (app: App, name: string, by: string) => Promise<Schedule>,
): Command {
  return defineCommand({
    name: `schedule ${verb}`,
    summary,
    args: 'NAME',
    access: 'write',
    prints: { object: 'Schedule' },
    examples: [`queuectl schedule ${shellWord(verb)} nightly`],
    async run({ io, app, environment }, input) {
      const name = nameOf(input);
      const opened = await app();
      const changed = await change(opened, name, actorOf(environment));
      await printScheduleChange(io, participle, changed, opened.clock.now());
    },
  });
}

function nameOf(input: Input): string {
  return input.required(0, 'the schedule name', 'to list the schedules: queuectl schedule list');
}

const run = defineCommand({
  name: 'schedule run',
  summary: "Enqueue a schedule's job now",
  args: 'NAME',
  access: 'write',
  prints: { object: 'Job' },
  examples: ['queuectl schedule run nightly'],
  notes: ['This also works while the schedule is paused. It does not affect the regular runs.'],
  async run({ io, app }, input) {
    const name = nameOf(input);
    const opened = await app();
    const job = await runSchedule(opened, name);
    printResult(io, await jobObject(opened, job), describeAdded(job, opened.clock.now()), job.id);
  },
});

async function printSchedule(io: Io, schedule: Schedule, now: number): Promise<void> {
  const object = await toScheduleObject(schedule, now);
  if (io.json) return printJson(io, object);
  const all = schedulePairs(object, fullTimesFor(io, now));
  printPairs(io, all, ([name]) => (name === 'status' && object.paused ? 'yellow' : undefined));
}

function printNextRuns(io: Io, times: TimesObject, now: number): undefined {
  if (io.json) return printJson(io, times);
  printPairs(io, [
    ['when', timingText(times)],
    ...times.next_runs.map((at): Pair => ['next', fullTimesFor(io, now).text(at)]),
  ]);
}

/** Prints a changed schedule: as JSON with --json, in a sentence on a terminal, else only its name. */
async function printScheduleChange(
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

export default {
  add,
  list,
  show,
  edit,
  remove: changeCommand(
    'remove',
    'removed',
    'Remove a schedule but keep the jobs it enqueued',
    removeSchedule,
  ),
  pause: changeCommand('pause', 'paused', 'Pause a schedule', pauseSchedule),
  resume: changeCommand('resume', 'resumed', 'Resume a paused schedule', resumeSchedule),
  run,
};
