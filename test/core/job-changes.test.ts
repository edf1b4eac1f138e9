import { expect, test } from 'bun:test';
import { readJobChanges } from '../../src/core/jobs/job-changes.ts';

test('a new start can be relative to now', () => {
  expect(readJobChanges({ run_at: '+10m' }, 5000)).toEqual({ runAt: 605_000 });
  expect(readJobChanges({ run_at: '+0s' }, 5000)).toEqual({ runAt: 5000 });
  expect(readJobChanges({ delay: 60 }, 5000)).toEqual({ runAt: 65_000 });
});

test('cwd cannot be changed', () => {
  expect(() => readJobChanges({ cwd: '/' }, 5000)).toThrow('cwd of a job cannot be changed');
});
