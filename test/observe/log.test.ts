import { expect, test } from 'bun:test';
import type { ClaimedJob } from '../../src/core/jobs/job.ts';
import type { WorkerEvent } from '../../src/core/rules/events.ts';
import { logLine } from '../../src/observe/log.ts';

const NOW = Date.UTC(2030, 0);

function startedLine(job: Partial<ClaimedJob>): string {
  const claimed = { id: 'job', queue: 'default', ordinal: 1, ...job } as ClaimedJob;
  return logLine({ type: 'attempt-started', job: claimed, pid: 7 } as WorkerEvent, NOW);
}

/** Parses the `key=value` pairs of a line. Quoted values may contain any text. */
function pairsOf(line: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const [, key, value] of line.matchAll(/(?<=^| )(\w+)=("(?:\\.|[^"\\])*"|[^\s"=]+)/g)) {
    expect(pairs).not.toHaveProperty(key!);
    pairs[key!] = value!.startsWith('"') ? JSON.parse(value!) : value!;
  }
  return pairs;
}

test('plain names are not quoted', () => {
  expect(startedLine({ id: 'nightly:42', queue: 'größe/a' })).toBe(
    '2030-01-01T00:00:00.000Z job=nightly:42 attempt=1 queue=größe/a started pid=7',
  );
});

test.each(['a b', 'x" queue=other pid=1 "', 'x queue=other attempt=9', 'back\\slash', 'a=b', '"', '\\"'])(
  'the name %p cannot be mistaken for further pairs',
  (name) => {
    const pairs = { job: name, attempt: '1', queue: name, pid: '7' };
    expect(pairsOf(startedLine({ id: name, queue: name }))).toEqual(pairs);
  },
);

test('a log line stays one line, whatever names and messages contain', () => {
  const line = startedLine({ id: 'a\n2030-01-01T00:00:00.000Z job=b completed', queue: '\x1b[2J\u202e' });
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(logLine({ type: 'worker-error', workerId: 'w', message: 'a\nb' } as WorkerEvent, NOW)).toEndWith(
    'worker=w error: a\\nb',
  );
});

test('names of queues and schedules are quoted, too', () => {
  const ready = { type: 'worker-ready', workerId: 'w', pid: 1, concurrency: 2, queues: ['a b', 'c'] };
  expect(logLine(ready as WorkerEvent, NOW)).toEndWith('slots=2 queues="a b,c"');
  const tick = { type: 'tick', schedule: 'every day', at: NOW, jobId: 'a b', waits: false };
  expect(logLine(tick as WorkerEvent, NOW)).toContain(' schedule="every day" ');
  expect(logLine(tick as WorkerEvent, NOW)).toEndWith('enqueued job="a b"');
});
