import { expect, test } from 'bun:test';
import { bodyOf, commandOf, draftOf, EMPTY } from '../../ui/draft.ts';
import { duration, size, visible } from '../../ui/format.ts';
import { spansOf } from '../../ui/spans.ts';
import type { Attempt, Job } from '../../ui/types.ts';

test('durations are as exact as they are long', () => {
  const cases: [number, string][] = [
    [320, '320 ms'],
    [3250, '3.25 s'],
    [3000, '3 s'],
    [252_000, '4m12s'],
    [7_500_000, '2h05m'],
    [273_600_000, '3d04h'],
    [-5, '0 ms'],
  ];
  for (const [ms, text] of cases) expect(duration(ms)).toBe(text);
  expect(size(200 * 1024 * 1024)).toBe('200 MiB');
});

test('what cannot be seen, or turns text around, is made visible', () => {
  expect(visible('a\x1b[2Jb\x00\u202ec')).toBe('a^[[2Jb^@\\u202ec');
  expect(visible('tab\tand\nline')).toBe('tab\tand\nline');
});

test('a draft says on the command line what it sends', () => {
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

test('a job that is done over keeps what the form does not show', () => {
  expect(bodyOf(draftOf(job))).toMatchObject({ argv: ['a', 'b'], retry_on: [75], max_retries: 3 });
  expect(bodyOf(draftOf(job))).not.toHaveProperty('id');
});

test('the life of a job is one unbroken line, whatever the clocks say', () => {
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
