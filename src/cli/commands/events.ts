import type { App } from '../../actions/app.ts';
import {
  followEvents,
  lastEventNumber,
  lastEventNumberBefore,
  readEvents,
  startOfLastEvents,
} from '../../actions/events.ts';
import { findJobId } from '../../actions/select.ts';
import { errorTable, invalidValue, QueueError, usageError } from '../../core/errors.ts';
import { EVENT_KINDS, type EventKind } from '../../core/events.ts';
import { didYouMean } from '../../core/nearest.ts';
import { parseNumber } from '../../core/numbers.ts';
import { parseTime } from '../../core/time.ts';
import { defineCommand, type Input } from '../command.ts';
import { EVENT_DETAIL_FIELDS, printEvents } from '../event-line.ts';
import type { Row } from '../help-page.ts';
import { Interrupted, untilInterrupted } from '../interrupt.ts';
import type { Io } from '../io.ts';
import { listFlags, TIME_FLAGS } from '../layout-flags.ts';
import { numberFlag } from '../read-flags.ts';

const DEFAULT_LINES = 20;
const LINES_RANGE = { min: 0, max: 1_000_000_000, integer: true };

/** The kinds of events whose names need an explanation. */
const EXPLAINED_KINDS: Row[] = [
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
      help: "start after an event number (4711), at a time (2026-01-31T12:00, 09:30, 'yesterday 18:00'), or some time ago (10m)",
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
    const since = readSince(input, Date.now());
    const kinds = input.all('kind').flatMap((text) => text.split(',').map(readKind));
    const opened = await app();
    const job = input.one('job');
    const filter = {
      queue: input.one('queue'),
      jobId: job === undefined ? undefined : await resolveJobId(opened, job),
      kinds: kinds.length > 0 ? kinds : undefined,
    };
    const last = await lastEventNumber(opened);
    const skipped = Math.min(last, await lastSkippedNumber(opened, since));
    const count = lines ?? (since === null ? DEFAULT_LINES : null);
    const after =
      count === null ? skipped : Math.max(skipped, await startOfLastEvents(opened, count, last, filter));
    if (!input.has('follow')) {
      await printEvents(io, readEvents(opened, after, last, filter));
      return 0;
    }
    const code = await untilInterrupted(async (signal) => {
      await printEvents(io, followEvents(opened, after, filter, signal));
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

type Since = { number: number } | { at: number };

/** Reads --since. A number without a unit is an event number. */
function readSince(input: Input, now: number): Since | null {
  const text = input.one('since')?.trim();
  if (text === undefined) return null;
  if (/^\d+$/.test(text))
    return { number: parseNumber(text, '--since', { min: 0, max: 2 ** 53 - 1, integer: true }) };
  try {
    return { at: parseTime(text, '--since', now, -1) };
  } catch (error) {
    if (!(error instanceof QueueError) || error.hint !== errorTable()['invalid-time'].hint) throw error;
    throw new QueueError(
      'invalid-time',
      error.message,
      "use an event number (4711), a time (2026-01-31T12:00, 09:30, 'yesterday 18:00') or an age (10m)",
    );
  }
}

/** Returns the number of the last event that --since leaves out, or 0. */
async function lastSkippedNumber(app: App, since: Since | null): Promise<number> {
  if (since === null) return 0;
  return 'number' in since ? since.number : lastEventNumberBefore(app, since.at);
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
