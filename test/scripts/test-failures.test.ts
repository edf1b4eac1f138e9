import { expect, test } from 'bun:test';
import { failedTests, withoutPassedTests } from '../../scripts/test-failures.ts';

const OUTPUT = `bun test v1.4.4

test/one.test.ts:
TEST_SEED=1
(pass) first [1.00ms]
TEST_SEED=2
error: expect(received).toEqual(expected)
      at <anonymous> (test/one.test.ts:3:64)
(fail) second [2.00ms]
(skip) third

 1 pass
 1 fail`;

test('the report of a failure contains no passed or skipped test', () => {
  expect(withoutPassedTests(OUTPUT)).toBe(`TEST_SEED=2
error: expect(received).toEqual(expected)
      at <anonymous> (test/one.test.ts:3:64)
(fail) second [2.00ms]

 1 pass
 1 fail`);
});

test('the closing list names each failed test and its error', () => {
  expect(failedTests(OUTPUT)).toEqual([
    'error: expect(received).toEqual(expected)',
    '(fail) second [2.00ms]',
  ]);
});

test('the output of a run that was cut short is kept', () => {
  expect(withoutPassedTests('(pass) first [1.00ms]\nKilled')).toBe('Killed');
});
