import { expect, test } from 'bun:test';
import { EVENT_KINDS } from '../../src/core/rules/events.ts';
import { spansOf } from '../../ui/job/spans.ts';
import { bodyOf, commandOf, draftOf, EMPTY } from '../../ui/jobs/draft.ts';
import {
  duration,
  elapsed,
  exactDuration,
  localTime,
  percent,
  relativeTime,
  sentence,
  size,
  visible,
} from '../../ui/parts/format.ts';
import type { Attempt, Job } from '../../ui/types.ts';
import { EVENTS } from '../../ui/words/activity.ts';

test('durations have at most two units', () => {
  const cases: [number, string][] = [
    [-5, '0ms'],
    [320, '320ms'],
    [999.6, '1s'],
    [3000, '3s'],
    [3249, '3.2s'],
    [9960, '10s'],
    [54_400, '54s'],
    [59_700, '1m'],
    [64_000, '1m 4s'],
    [300_000, '5m'],
    [7_200_000, '2h'],
    [7_500_000, '2h 5m'],
    [86_399_000, '23h 59m'],
    [273_600_000, '3d 4h'],
  ];
  for (const [ms, text] of cases) expect(duration(ms)).toBe(text);
  expect(elapsed(999)).toBe('0s');
  expect(elapsed(3900)).toBe('3s');
});

test('sizes, percentages and relative times have one style', () => {
  expect([512, 1536, 9.97 * 1024, 47 * 1024 * 1024].map(size)).toEqual([
    '512 B',
    '1.5 KiB',
    '10 KiB',
    '47 MiB',
  ]);
  expect([0, 0.001, 0.594, 0.999, 1].map(percent)).toEqual(['0%', '<1%', '59%', '>99%', '100%']);
  const now = Date.parse('2030-01-01T12:00:00.000Z');
  expect(relativeTime('2030-01-01T11:56:40.000Z', now)).toBe('3m 20s ago');
  expect(relativeTime('2030-01-01T12:00:12.000Z', now)).toBe('in 12s');
  expect(localTime('2030-13-45T00:00:00\u001bZ', now)).toBe('2030-13-45T00:00:00^[Z');
  expect([90_000, 7_200_000, 1500].map(exactDuration)).toEqual(['90s', '2h', '1500ms']);
});

test('a text of the server starts with a capital letter unless it starts with a name', () => {
  expect(sentence('queue mail is paused')).toBe('Queue mail is paused');
  expect(sentence('max-retries must be at least 0')).toBe('max-retries must be at least 0');
  expect(sentence('queuectl worker start')).toBe('queuectl worker start');
});

test('every kind of event has a readable name', () => {
  expect(EVENT_KINDS.filter((kind) => EVENTS.kinds[kind] === undefined)).toEqual([]);
});

test('invisible and direction-changing characters are made visible', () => {
  expect(visible('a\x1b[2Jb\x00\u202ec')).toBe('a^[[2Jb^@\\u202ec');
  expect(visible('tab\tand\nline')).toBe('tab\tand\nline');
});

test('the command line of a draft is equivalent to its request', () => {
  const draft = { ...EMPTY, command: '{not json', priority: '5', tags: 'a=1\nb=x y' };
  expect(bodyOf(draft)).toEqual({ command: '{not json', priority: 5, tags: { a: '1', b: 'x y' } });
  expect(commandOf(draft)).toBe(
    `queuectl enqueue --command '{not json' --priority 5 --tag a=1 --tag 'b=x y'`,
  );
});

const job = {
  ...{
    id: 'one',
    command: 'a b',
    argv: ['a', 'b'],
    state: 'failed',
    queue: 'default',
    priority: 0,
    name: null,
  },
  ...{ max_retries: 3, timeout_ms: null, cwd: '/', tags: {}, env: {}, secret_env: [], run_at: null },
  ...{ created_at: '2030-01-01T00:00:00.000Z', next_run_at: '2030-01-01T00:00:30.000Z', retry_on: [75] },
} as unknown as Job;

test('a duplicated job keeps fields that the form does not show', () => {
  expect(bodyOf(draftOf(job))).toMatchObject({ argv: ['a', 'b'], retry_on: [75], max_retries: 3 });
  expect(bodyOf(draftOf(job))).not.toHaveProperty('id');
});

test('the timeline of a job is continuous, even if the times of its attempts overlap', () => {
  const at = (seconds: number): string => new Date(Date.parse(job.created_at) + seconds * 1000).toISOString();
  const attempt = (attempt: number, started: number, finished: number) =>
    ({
      attempt,
      started_at: at(started),
      finished_at: at(finished),
      outcome: 'exited',
      exit_code: 1,
    }) as Attempt;
  const spans = spansOf(job, [attempt(1, 2, 4), attempt(2, 3, 8)], Date.parse(at(10)));
  expect(spans.map(({ kind, from, to }) => [kind, (to - from) / 1000])).toEqual([
    ['waiting', 2],
    ['failed', 2],
    ['failed', 4],
    ['backoff', 22],
  ]);
  for (const [i, span] of spans.slice(1).entries()) expect(span.from).toBe(spans[i]!.to);
});

test('a delayed job is scheduled until it is due, and waiting after that', () => {
  const at = (seconds: number): number => Date.parse(job.created_at) + seconds * 1000;
  const run_at = new Date(at(60)).toISOString();
  const later = { ...job, state: 'pending', run_at, next_run_at: run_at } as Job;
  const kinds = (now: number) =>
    spansOf(later, [], now).map(({ kind, from, to }) => [kind, (to - from) / 1000]);
  expect(kinds(at(10))).toEqual([['scheduled', 60]]);
  expect(kinds(at(70))).toEqual([
    ['scheduled', 60],
    ['waiting', 10],
  ]);
});
