import { expect, test } from 'bun:test';
import { withSqlite } from '../support/sqlite.ts';

/** Rows of the event log. A row represents one event for each of its `jobs`, and `number` is that of the last event. */
const ROWS = [
  { number: 3, jobs: 3, at: 10 },
  { number: 4, jobs: 1, at: 20 },
  { number: 5, jobs: 1, at: 20 },
  { number: 105, jobs: 100, at: 30 },
  { number: 106, jobs: 1, at: 40 },
];

test('lastEventNumberBefore returns the number of the last event before a time, but never less than that of the last removed event', () =>
  withSqlite(async (store, connection) => {
    for (const { number, jobs, at } of ROWS)
      connection.run(
        'INSERT INTO event (number, at, kind, jobs) VALUES (?, ?, ?, ?)',
        number,
        at,
        'enqueued',
        jobs,
      );
    connection.run('UPDATE event_number SET last = 106');
    const expected: [at: number, last: number][] = [
      [5, 0],
      [10, 0],
      [11, 3],
      [20, 3],
      [21, 5],
      [30, 5],
      [31, 105],
      [40, 105],
      [41, 106],
    ];
    for (const [at, last] of expected)
      expect([at, await store.lastEventNumberBefore(at)]).toEqual([at, last]);
    connection.run('DELETE FROM event WHERE number <= 4');
    for (const [at, last] of expected)
      expect([at, await store.lastEventNumberBefore(at)]).toEqual([at, Math.max(last, 4)]);
    connection.run('DELETE FROM event');
    expect(await store.lastEventNumberBefore(25)).toBe(106);
  }));
