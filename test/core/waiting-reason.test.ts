import { describe, expect, test } from 'bun:test';
import { readJobFilter } from '../../src/core/jobs/filter.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import {
  type Circumstances,
  queueReason,
  reasonText,
  selectWaiting,
  WAITING_REASONS,
  waitingReason,
} from '../../src/core/jobs/waiting-reason.ts';
import { availableTokens } from '../../src/core/rules/queue.ts';

const NOW = Date.UTC(2030, 0, 1);
const CIRCUMSTANCES: Circumstances = {
  now: NOW,
  queues: new Map([
    ['paused', 'queue_paused'],
    ['open', 'ready'],
    ['full', 'at_limit'],
  ]),
  otherQueues: 'no_worker',
};

const job = (over: Partial<Job>) =>
  ({
    state: 'pending',
    held: false,
    blocked: false,
    delayed: false,
    dueAt: NOW,
    queue: 'open',
    ...over,
  }) as Job;

describe('waitingReason', () => {
  test.each([
    [{}, 'ready'],
    [{ delayed: true, dueAt: NOW + 1 }, 'scheduled'],
    [{ delayed: true, dueAt: NOW + 1, state: 'failed' }, 'retrying'],
    [{ delayed: true, dueAt: NOW }, 'ready'],
    // The clock was set back after the job had become ready.
    [{ dueAt: NOW + 1 }, 'ready'],
    [{ dueAt: NOW + 1, state: 'failed' }, 'ready'],
    [{ state: 'failed' }, 'ready'],
    [{ blocked: true, dueAt: NOW + 1 }, 'blocked'],
    [{ held: true, blocked: true, dueAt: NOW + 1 }, 'held'],
    [{ queue: 'paused' }, 'queue_paused'],
    [{ queue: 'paused', delayed: true, dueAt: NOW + 1 }, 'scheduled'],
    [{ queue: 'full' }, 'at_limit'],
    [{ queue: 'new' }, 'no_worker'],
    [{ state: 'processing', dueAt: null }, null],
    [{ state: 'completed', dueAt: null }, null],
    [{ state: 'dead', dueAt: null }, null],
    [{ state: 'cancelled', dueAt: null }, null],
  ] satisfies [Partial<Job>, string | null][])('a job with %j has the reason %s', (over, reason) => {
    expect(waitingReason(job(over), CIRCUMSTANCES)).toBe(reason as never);
  });

  test('of several obstacles of a queue, the first is the reason', () => {
    const all = { paused: true, served: false, full: true, rateReached: true };
    expect(queueReason(all)).toBe('queue_paused');
    expect(queueReason({ ...all, paused: false })).toBe('no_worker');
    expect(queueReason({ ...all, paused: false, served: true })).toBe('at_limit');
    expect(queueReason({ ...all, paused: false, served: true, full: false })).toBe('rate_limited');
    expect(queueReason({ paused: false, served: true, full: false, rateReached: false })).toBe('ready');
  });

  test('selectWaiting sets a flag for each reason of a job, and lists the queues with a selected reason', () => {
    const names = ['paused', 'open', 'full', 'other'];
    expect(selectWaiting(['held', 'queue_paused', 'ready'], CIRCUMSTANCES, names)).toEqual({
      ...{ now: NOW, held: true, blocked: false, scheduled: false, retrying: false },
      due: ['paused', 'open'],
    });
    expect(selectWaiting([...WAITING_REASONS], CIRCUMSTANCES, names).due).toEqual(names);
    expect(selectWaiting(['no_worker'], CIRCUMSTANCES, names).due).toEqual(['other']);
  });

  test('the text of a reason has spaces, and is empty for a job that does not wait', () => {
    expect(reasonText('at_limit')).toBe('at limit');
    expect(reasonText(null)).toBe('');
  });
});

describe('the filter --waiting-for', () => {
  const read = (...given: string[]) =>
    readJobFilter(
      (field) => (field === 'waiting-for' ? given : []),
      (field) => field,
    ).waitingFor;

  test('takes several reasons, in the spellings people use', () => {
    expect(read()).toBeUndefined();
    expect(read('held,no_worker', 'Queue-Paused', 'at limit')).toEqual([
      ...(['held', 'no_worker', 'queue_paused', 'at_limit'] as const),
    ]);
  });

  test.each([
    ['heldd', "unknown reason 'heldd'; did you mean held?"],
    ['', "unknown reason ''"],
    ['pending', "unknown reason 'pending'"],
  ])('%j is refused', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

describe('availableTokens', () => {
  const rate = { jobs: 60, perMs: 60_000 };

  test('a rate limit allows one job at once, and the next one when a token is available', () => {
    expect(availableTokens(rate, null, NOW)).toEqual({ tokens: 1, openAt: 0, at: NOW });
    const last = { left: 0, at: NOW };
    expect(availableTokens(rate, last, NOW)).toEqual({ tokens: 0, openAt: NOW + 1000, at: NOW });
    expect(availableTokens(rate, last, NOW + 1000)).toEqual({ tokens: 1, openAt: 0, at: NOW + 1000 });
    expect(availableTokens(rate, { left: 0, at: NOW }, NOW + 1e9).tokens).toBe(1);
  });

  test('a clock that was set back does not block a queue', () => {
    expect(availableTokens(rate, { left: 0, at: NOW + 1e6 }, NOW)).toEqual({ tokens: 1, openAt: 0, at: NOW });
  });

  test('a claim whose clock is a little late gets what the others have left', () => {
    const result = availableTokens(rate, { left: 0.5, at: NOW + 30 }, NOW);
    expect(result).toEqual({ tokens: 0.5, openAt: NOW + 530, at: NOW + 30 });
  });
});
