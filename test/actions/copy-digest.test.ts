import { expect, test } from 'bun:test';
import { differenceOf, newDigester } from '../../src/actions/copy-digest.ts';

type Add = (digester: ReturnType<typeof newDigester>) => void;
const digestOf = (...steps: Add[]) => {
  const digester = newDigester();
  for (const step of steps) step(digester);
  return digester.digest();
};
const row =
  (table: string, columns: Record<string, string | number | Uint8Array | null>): Add =>
  (digester) =>
    digester.row({ table, row: columns });
const file =
  (attempt: number, stream: 'stdout' | 'stderr', text: string): Add =>
  (digester) =>
    digester.file({ attempt, stream, bytes: Buffer.from(text) });

test('the order of columns, the order of files and the sizes of their parts do not matter', () => {
  const original = digestOf(
    row('job', { id: 'a', state: 'dead' }),
    row('output', { bytes: new Uint8Array([0, 255]) }),
    file(1, 'stdout', 'ab'),
    file(1, 'stdout', 'c'),
    file(1, 'stderr', 'd'),
    file(2, 'stdout', 'e'),
  );
  const copy = digestOf(
    row('job', { state: 'dead', id: 'a' }),
    file(2, 'stdout', 'e'),
    file(1, 'stderr', 'd'),
    file(1, 'stdout', 'abc'),
    row('output', { bytes: Buffer.from([0, 255]) }),
  );
  expect(differenceOf(original, copy)).toBe(null);
  expect(original).toMatchObject({ job: { rows: 1 }, output: { rows: 1 }, 'output file': { rows: 3 } });
});

test.each<[string, Add[], Add[], string]>([
  ['a missing row', [row('job', { id: 1 })], [], 'job: 1 expected, 0 found'],
  ['another value', [row('job', { id: 1 })], [row('job', { id: '1' })], 'job: the checksums differ'],
  [
    'another order of rows',
    [row('job', { id: 1 }), row('job', { id: 2 })],
    [row('job', { id: 2 }), row('job', { id: 1 })],
    'job: the checksums differ',
  ],
  [
    'the output of another stream',
    [file(1, 'stdout', 'a')],
    [file(1, 'stderr', 'a')],
    'output file: the checksums differ',
  ],
  [
    'output that moved to another file',
    [file(1, 'stdout', 'ab'), file(2, 'stdout', 'c')],
    [file(1, 'stdout', 'a'), file(2, 'stdout', 'bc')],
    'output file: the checksums differ',
  ],
])('a digest shows %s', (_, original, copy, difference) => {
  expect(differenceOf(digestOf(...original), digestOf(...copy))).toBe(difference);
});
