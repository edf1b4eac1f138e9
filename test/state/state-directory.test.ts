import { expect, test } from 'bun:test';
import { stateBeside } from '../../src/state/state-directory.ts';

test('the file names in a state directory never change, because workers of other versions use it too', () => {
  const paths = Object.values(stateBeside('/q.db')).flatMap((one) =>
    typeof one === 'string' ? [one] : Object.values(one),
  );
  expect(paths).toEqual([
    '/q.db.d',
    '/q.db.d/attempts',
    '/q.db.d/wake',
    '/q.db.d/changes/last',
    '/q.db.d/lifelines',
    '/q.db.d/lease',
    '/q.db.d/logs',
    '/q.db.d/host',
    '/q.db.d/key',
    '/q.db.d/ballast',
    '/q.db.d/token',
    '/q.db.d/token-read-only',
  ]);
});
