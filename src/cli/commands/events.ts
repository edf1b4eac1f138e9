import type { App } from '../../actions/app.ts';
import {
  followEvents,
  lastEventNumber,
  lastEventNumberBefore,
  readEvents,
  startOfLastEvents,
} from '../../actions/events.ts';
import { findJobId } from '../../actions/jobs/jobs.ts';
import { ERRORS, invalidValue, QueueError, usageError } from '../../core/errors.ts';
import {
  EVENT_KINDS,
  type EventDetail,
  type EventKind,
  type StoreEvent,
  toEventObject,
} from '../../core/rules/events.ts';
import { maskUrls } from '../../core/text/mask.ts';
import { didYouMean } from '../../core/text/nearest.ts';
import { parseNumber } from '../../core/text/numbers.ts';
import { pairValue } from '../../core/text/printable.ts';
import { parseTime, toIso } from '../../core/time/time.ts';
import { defineCommand, type Input } from '../frame/command.ts';
import { Interrupted, untilInterrupted } from '../frame/interrupt.ts';
import type { Io } from '../frame/io.ts';
import { numberFlag } from '../frame/read-flags.ts';
import type { HelpRow } from '../help/help-page.ts';
import { printJson } from '../print/layout.ts';
import {
  headerLine,
  type Listing,
  lineFormatter,
  listFlags,
  TIME_FLAGS,
  timesFor,
} from '../print/print-list.ts';
import { isAligned } from '../print/table.ts';
import { cut, displayWidth, pad, paint, printable, STATE_COLORS } from '../print/text.ts';

const DEFAULT_LINES = 20;
const LINES_RANGE = { min: 0, max: 1_000_000_000, integer: true };

const EXPLAINED_KINDS: HelpRow[] = [
  ['adopted', 'A worker took over a running attempt from a worker that had crashed or stopped.'],
  ['ending', 'A running attempt is being stopped, for example because of a timeout.'],
  ['requeued', 'An attempt was stopped or lost in a crash, and the job is pending again.'],
  ['jobs-pruned', 'Old jobs were removed.'],
  [
    'tick',
    'A schedule was due. It enqueued a job, or the run was skipped or is waiting for the previous job.',
  ],
  ['operation-begun', 'A bulk action started in the dashboard or the HTTP API.'],
  ['operation-ended', 'A bulk action ended.'],
];

/** The fields that only some kinds of events have. */
const EVENT_DETAIL_FIELDS =
  `outcome exit_code error next_run_at reason fields schedule scheduled_at manual waits key
  value worker_id pid hostname concurrency queues rate state jobs bytes
  operation action changed`.split(/\s+/);

export default defineCommand({
  name: 'events',
  summary: 'Show the event log of jobs, queues, workers and settings',
  flags: {
    follow: { short: 'f', help: 'keep printing new events until you press Ctrl-C' },
    lines: {
      value: 'N',
      short: 'n',
      help: `print the last N events (default: ${DEFAULT_LINES}, or all events with --since)`,
    },
    since: {
      value: 'WHEN',
      help: "start after an event number (4711), at a time (2026-01-31T12:00, 09:30, 'friday 18:00'), or some time ago (10m)",
    },
    job: { value: 'ID', help: 'print only events of this job' },
    queue: { value: 'NAME', help: 'print only events of this queue and its jobs' },
    kind: { value: 'K,…', many: true, help: 'print only events of these kinds, such as failed,dead' },
    ...listFlags('{number}\\t{kind}'),
    time: { ...TIME_FLAGS.time!, help: 'how to show times (default: iso)' },
  },
  prints: { object: 'Event', fields: EVENT_DETAIL_FIELDS },
  examples: [
    'queuectl events',
    'queuectl events -f',
    'queuectl events -f --json | jq -r \'select(.kind == "dead") | .job_id\'',
    'queuectl events --kind failed,dead --since 1h',
    'queuectl events -f --since 4711',
    "queuectl events --kind dead --format '{at} {job_id} {exit_code} {error}'",
  ],
  notes: [
    'In a pipe or with --json, queuectl prints each event as a JSON object on its own line.',
    'Events are numbered consecutively. To continue where you stopped, pass the last number you saw to --since. No event is skipped or repeated.',
    'Events are kept for 7 days by default (see the keep-events setting).',
    `The kinds of events are ${EVENT_KINDS.join(', ')}.`,
    'Some kinds need an explanation:',
    EXPLAINED_KINDS,
  ],
  async run({ io, app }, input) {
    refuseFlagsWithoutEffect(io);
    const lines = numberFlag(input, 'lines', LINES_RANGE);
    // A mistake is reported before the store is opened, and the time is read again by its clock.
    readSince(input, Date.now());
    const kinds = input.all('kind').flatMap((text) => text.split(',').map(readKind));
    const opened = await app();
    const since = readSince(input, opened.clock.now());
    const job = input.one('job');
    const filter = {
      queue: input.one('queue'),
      jobId: job === undefined ? undefined : await resolveJobId(opened, job),
      kinds: kinds.length > 0 ? kinds : undefined,
    };
    const last = await lastEventNumber(opened);
    const before = since === null ? 0 : (since.number ?? (await lastEventNumberBefore(opened, since.at)));
    const skipped = Math.min(last, before);
    const count = lines ?? (since === null ? DEFAULT_LINES : null);
    const after =
      count === null ? skipped : Math.max(skipped, await startOfLastEvents(opened, count, last, filter));
    if (!input.has('follow')) {
      await printEvents(io, readEvents(opened, after, last, filter), opened.clock.now);
      return 0;
    }
    const code = await untilInterrupted(async (signal) => {
      await printEvents(io, followEvents(opened, after, filter, signal), opened.clock.now);
    });
    // Ctrl-C is the normal way to stop following.
    return code === new Interrupted('SIGINT').exitCode ? 0 : code;
  },
});

/** Throws for flags without effect. In a pipe, events are JSON by default, without columns or other time styles. */
function refuseFlagsWithoutEffect({ layout: { format, header, time, utc }, tty }: Io): void {
  if (format !== null || tty || !(header || time !== null || utc)) return;
  throw usageError(
    '--header, --time and --utc require --format, because events in a pipe are JSON',
    'for example: queuectl events --format tsv',
  );
}

type Since = { number: number; at?: never } | { number?: never; at: number };

/** Reads --since. A number without a unit is an event number. */
function readSince(input: Input, now: number): Since | null {
  const text = input.one('since')?.trim();
  if (text === undefined) return null;
  if (/^\d+$/.test(text))
    return { number: parseNumber(text, '--since', { min: 0, max: 2 ** 53 - 1, integer: true }) };
  try {
    return { at: parseTime(text, '--since', now, -1) };
  } catch (error) {
    if (!(error instanceof QueueError) || error.hint !== ERRORS['invalid-time'].hint) throw error;
    throw new QueueError(
      'invalid-time',
      error.message,
      "use an event number (4711), a time (2026-01-31T12:00, 09:30, 'friday 18:00') or an age (10m)",
    );
  }
}

function readKind(text: string): EventKind {
  const kind = text.trim().toLowerCase();
  const found = EVENT_KINDS.find((one) => one === kind);
  if (found !== undefined) return found;
  throw invalidValue(
    `--kind: unknown event kind '${text}'${didYouMean(kind, EVENT_KINDS)}`,
    'to list the kinds: queuectl help events',
  );
}

/** Resolves a job id. Keeps an unknown id, because a deleted job still has events, and the job may be added later. */
async function resolveJobId(app: App, given: string): Promise<string> {
  try {
    return await findJobId(app, given);
  } catch (error) {
    if (error instanceof QueueError && error.code === 'job-not-found' && !given.startsWith('@')) return given;
    throw error;
  }
}

const KIND_WIDTH = Math.max(...EVENT_KINDS.map((kind) => kind.length));
const ID_WIDTH = 16;

/** Prints each event as it arrives: in words on a terminal, as a line of JSON in a pipe, or in the format of --format. */
async function printEvents(io: Io, events: AsyncIterable<StoreEvent>, now: () => number): Promise<void> {
  const { format } = io.layout;
  const inWords = isAligned(io) && !io.json;
  const asJson = format === null || format === 'json' || format === 'jsonl';
  if (!asJson) io.out(headerLine(io, EVENT_LIST.columns(timesFor(io, now()))));
  for await (const event of events) {
    if (inWords) io.out(`${eventText(io, event, now())}\n`);
    else if (asJson) printJson(io, toEventObject(event));
    // A relative time depends on the current time, so each event needs a new formatter.
    else io.out(`${await lineFormatter(io, EVENT_LIST, now())(event)}\n`);
  }
}

const EVENT_LIST: Listing<StoreEvent> = {
  columns: (times) => [
    { title: 'NUMBER', value: (event) => String(event.number) },
    { title: 'AT', value: (event) => times.text(event.at) },
    { title: 'KIND', value: (event) => event.kind },
    { title: 'ACTOR', value: (event) => event.actor ?? '' },
    { title: 'JOB', value: (event) => event.jobId ?? '' },
    { title: 'QUEUE', value: (event) => event.queue ?? '' },
    { title: 'ATTEMPT', value: (event) => String(event.attempt ?? '') },
    { title: 'DETAIL', value: (event) => JSON.stringify(event.detail) },
  ],
  id: (event) => String(event.number),
  object: toEventObject,
};

function eventText(io: Io, event: StoreEvent, now: number): string {
  const { at, kind, actor, jobId, queue, attempt, detail } = event;
  const color = STATE_COLORS[kind === 'started' ? 'processing' : kind];
  const facts: string[] = [];
  for (const [name, value] of Object.entries<EventDetail[string]>({ queue, attempt, ...detail, by: actor })) {
    if (value !== null && value !== false) facts.push(`${name}=${pairValue(maskUrls(String(value)))}`);
  }
  // The line stays on the screen, where a relative time would soon be wrong. So times are absolute without --time.
  const when = io.layout.time === null && !io.layout.utc ? toIso(at) : timesFor(io, now).text(at);
  const id = pad(printable(jobId ?? '-'), ID_WIDTH);
  const room = io.layout.wide ? Number.POSITIVE_INFINITY : io.width;
  const head = `${when}  ${pad(kind, KIND_WIDTH)}  ${id}`;
  const line = `${head}  ${facts.join(' ')}`;
  let lines = [line];
  if (displayWidth(head) > room)
    lines = [`${when}  ${kind}`, ...packIntoLines([id.trimEnd(), ...facts], room - INDENT.length)];
  else if (displayWidth(line) > room) lines = [head, ...packIntoLines(facts, room - INDENT.length)];
  const text = lines.map((part, i) => (i === 0 ? part : INDENT + part).trimEnd()).join('\n');
  return io.color && color ? text.replace(kind, (word) => paint(word, color)) : text;
}

const INDENT = '    ';

/** Distributes facts over lines. A fact that is wider than a line is cut. */
function packIntoLines(facts: string[], room: number): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const longer = lines.length === 0 ? fact : `${lines.at(-1)} ${fact}`;
    if (lines.length > 0 && displayWidth(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(cut(fact, room));
  }
  return lines;
}
