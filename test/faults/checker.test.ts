import { expect, test } from 'bun:test';
import { type Change, check, type History, type JobRow, type ViolationKind } from './checker.ts';
import { settlementsIn } from './lab.ts';
import type { WitnessLine } from './witness.ts';

function line(what: 'S' | 'E', attempt = 1, fields: Partial<WitnessLine> = {}): WitnessLine {
  const code = what === 'S' ? null : 0;
  return { what, job: 'a', attempt, fence: attempt, pid: attempt, born: '1', code, ...fields };
}

function row(fields: Partial<JobRow> = {}): JobRow {
  return { id: 'a', state: 'completed', attempts: 1, maxRetries: 3, crashes: 0, ...fields };
}

function change(fields: Partial<Change> = {}): Change {
  return {
    ...{ job: 'a', from: 'processing', to: 'completed' },
    ...{ fromToken: 1, toToken: 1, fromHolder: 'w1', toHolder: null, actor: 'w1', ...fields },
  };
}

/** Returns the history of one job that ran once and completed. */
function correctHistory(fields: Partial<History> = {}): History {
  return {
    enqueued: [{ id: 'a', outcome: 'ok' }],
    witness: [line('S'), line('E')],
    jobs: [row()],
    changes: [
      change({ from: 'pending', to: 'processing', fromToken: 0, fromHolder: null, toHolder: 'w1' }),
      change(),
    ],
    logged: [{ job: 'a', workers: ['w1'] }],
    orphans: [],
    once: new Set(),
    ...fields,
  };
}

const kinds = (fields: Partial<History>): ViolationKind[] =>
  check(correctHistory(fields)).map((one) => one.kind);

test('the checker finds nothing wrong with a correct history', () => {
  expect(check(correctHistory())).toEqual([]);
  expect(kinds({ once: 'all' })).toEqual([]);
});

test('lost covers acknowledged jobs that are missing or pending, or completed without having run to their end', () => {
  expect(kinds({ jobs: [] })).toEqual(['lost']);
  expect(kinds({ jobs: [row({ state: 'pending' })] })).toEqual(['lost']);
  expect(kinds({ witness: [] })).toEqual(['lost']);
  expect(kinds({ witness: [line('S')] })).toEqual(['lost']);
});

test('an enqueue with an unknown outcome may have happened or not', () => {
  const enqueued = [{ id: 'a', outcome: 'info' as const }];
  expect(kinds({ enqueued })).toEqual([]);
  expect(kinds({ enqueued, jobs: [], witness: [] })).toEqual([]);
});

test('unexpected covers jobs that exist or ran although their enqueue failed or never happened', () => {
  expect(kinds({ enqueued: [{ id: 'a', outcome: 'fail' }] })).toEqual(['unexpected']);
  expect(kinds({ enqueued: [], jobs: [] })).toEqual(['unexpected']);
});

test('twice covers a second run of a job that may start once, a run after a success, and two runs under one claim', () => {
  const again = [line('S'), line('E', 1, { code: 1 }), line('S', 2), line('E', 2)];
  expect(kinds({ witness: again })).toEqual([]);
  expect(kinds({ witness: again, once: 'all' })).toEqual(['twice']);
  expect(kinds({ witness: again, once: new Set(['a']) })).toEqual(['twice']);
  expect(kinds({ witness: [line('S'), line('E'), line('S', 2), line('E', 2)] })).toEqual(['twice']);
  const underOneClaim = [line('S'), line('S', 1, { pid: 7 }), line('E', 1, { pid: 7 })];
  expect(kinds({ witness: underOneClaim })).toEqual(['twice']);
});

test('overlap covers a run that ends after the next one has started', () => {
  const failed = { code: 1 };
  expect(kinds({ witness: [line('S'), line('S', 2), line('E', 1, failed), line('E', 2)] })).toEqual([
    'overlap',
  ]);
  // The first run was killed. It has no end, and nothing shows that it continued.
  expect(kinds({ witness: [line('S'), line('S', 2), line('E', 2)] })).toEqual([]);
});

test('stuck and overcharged jobs, orphan processes and rewritten results are found, but a retry is allowed', () => {
  expect(kinds({ jobs: [row({ state: 'processing' })] })).toEqual(['stuck']);
  expect(kinds({ orphans: [{ pid: 1, job: 'a' }] })).toEqual(['orphan']);
  expect(kinds({ jobs: [row({ attempts: 4 })] })).toEqual(['overcharged']);
  const rewritten = change({ from: 'completed', to: 'failed', fromHolder: null, actor: null });
  expect(kinds({ changes: [...correctHistory().changes, rewritten] })).toEqual(['rewritten']);
  expect(kinds({ changes: [...correctHistory().changes, { ...rewritten, to: 'pending' }] })).toEqual([]);
});

test('stale covers a settlement by a worker without the claim, and a token that did not rise', () => {
  expect(kinds({ logged: [{ job: 'a', workers: ['w2'] }] })).toEqual(['stale']);
  expect(kinds({ changes: [change({ toToken: 0 })] })).toEqual(['stale']);
  const taken = change({ to: 'processing', toHolder: 'w2', actor: 'w2' });
  const logged = [{ job: 'a', workers: ['w1', 'w2'] }];
  const settled = change({ fromToken: 2, toToken: 2, fromHolder: 'w2', actor: 'w2' });
  expect(kinds({ logged, changes: [{ ...taken, toToken: 2 }, settled] })).toEqual([]);
  expect(kinds({ logged, changes: [taken, settled] })).toEqual(['stale']);
  // The worker that lost the job settles it. It shares its log with the worker that holds the job.
  expect(
    kinds({
      logged,
      changes: [
        { ...taken, toToken: 2 },
        { ...settled, actor: 'w1' },
      ],
    }),
  ).toEqual(['stale']);
});

test('settlements are read from the logs of workers', () => {
  const log = `2030-01-01T00:00:00.000Z worker=w1 ready pid=1 slots=1 queues=*
2030-01-01T00:00:00.000Z job=a attempt=1 queue=default started pid=2
2030-01-01T00:00:00.000Z job=a attempt=1 queue=default completed (exit 0) after 1s
2030-01-01T00:00:00.000Z job=b attempt=1 queue=default was taken over by another worker
2030-01-01T00:00:00.000Z job=c attempt=2 queue=q requeued (lost) after 1s\n`;
  expect(settlementsIn(log)).toEqual([
    { job: 'a', workers: ['w1'] },
    { job: 'c', workers: ['w1'] },
  ]);
});
