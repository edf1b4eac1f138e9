import { expect, test } from 'bun:test';
import { readExitCodes } from '../../src/core/jobs/read-field.ts';
import { errorOf } from '../support/error-of.ts';

test.each([
  ['64', [64]],
  ['64,1, 64', [1, 64]],
  ['64-66', [64, 65, 66]],
  [
    [75, 1],
    [1, 75],
  ],
  [
    [1, '3-4'],
    [1, 3, 4],
  ],
  [2, [2]],
])('%j is read as %j', (given, codes) => {
  expect(readExitCodes(given, 'retry_on')).toEqual(codes);
});

const REFUSED = [
  '',
  'x',
  '256',
  '-1',
  '5-3',
  '1;2',
  '1e2',
  null,
  true,
  {},
  [],
  [null],
  [1.5],
  [-1],
  '0-99999999999',
];

for (const given of REFUSED) {
  test(`${JSON.stringify(given)} is refused`, () => {
    expect(errorOf(() => readExitCodes(given, 'retry_on')).code).toBe('invalid-job');
  });
}
