import { type JobFilter, readJobFilter } from '../core/filter.ts';
import { STATES } from '../core/job.ts';
import { WAITING_REASONS, type WaitingReason } from '../core/waiting-reason.ts';
import { type Flag, type Input, inGroup } from './command.ts';
import { numberFlag } from './read-flags.ts';

/** The flags that select jobs, for lists and for every action on jobs. */
export const FILTER_FLAGS: Record<string, Flag> = inGroup('Filters', {
  state: {
    value: 'S,…',
    short: 's',
    many: true,
    values: STATES,
    help: `jobs in these states: ${STATES.join(', ')}`,
  },
  'waiting-for': {
    value: 'R,…',
    many: true,
    values: WAITING_REASONS,
    help: `jobs that wait for one of these reasons: ${WAITING_REASONS.join(', ')}`,
  },
  queue: { value: 'NAME', help: 'jobs in this queue' },
  name: { value: 'NAME', help: 'jobs with this name' },
  tag: { value: 'K=V', many: true, help: 'jobs with this tag; can be repeated' },
  'older-than': { value: 'TIME', help: 'jobs enqueued at least this long ago, such as 2h or 7d' },
  error: { value: 'TEXT', help: 'jobs whose last error contains this text' },
  'exit-code': { value: 'N', help: 'jobs whose last exit code is N' },
  search: {
    value: 'TEXT',
    help: 'jobs with this text in the id, name, command, tags or last error (only among the newest 100,000 jobs)',
  },
  where: { value: 'COND,…', help: "jobs that match conditions such as 'attempts>3' or 'duration>=5m'" },
});

/** Describes the reasons of --waiting-for, for the help. */
export const REASON_MEANINGS: Record<WaitingReason, string> = {
  held: "the job is held until 'queuectl release'",
  blocked: 'the job waits for a job in its --after list',
  scheduled: 'the first attempt is due later',
  retrying: 'the next attempt is due later',
  queue_paused: 'the queue is paused',
  no_worker: 'no worker that takes jobs serves the queue, or has the label or host that the job asks for',
  at_limit: 'the concurrency limit of the queue, or max-concurrent-jobs, is reached',
  rate_limited: 'the rate limit of the queue is reached',
  ready: 'the job starts when a worker has a free slot',
};

export const LIMIT_FLAG: Flag = { value: 'N', short: 'n', help: 'maximum number of results' };

export function readFilter(input: Input, now: number): JobFilter {
  return readJobFilter({ one: input.one, all: input.all, nameOf: (field) => `--${field}` }, now);
}

export function readLimit(input: Input): number | null {
  return numberFlag(input, 'limit', { min: 1, max: 1_000_000_000, integer: true });
}
