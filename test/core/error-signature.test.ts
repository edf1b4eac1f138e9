import { expect, test } from 'bun:test';
import { errorSignature } from '../../src/core/text/error-line.ts';

test('errors with the same cause have the same signature', () => {
  const same: string[][] = [
    ['exit code 1: no route to host 10.0.0.1 port 5432', 'exit code 1: no route to host 10.0.0.77 port 1'],
    ["job 'a1' not found", "job 'b2' not found"],
    ['cannot read /var/lib/a/1.json: gone', 'cannot read /home/x: gone'],
    [
      'request 3f2b8c1d-0000-4000-8000-1234567890ab failed',
      'request ffffffff-1111-4222-8333-abcdefabcdef failed',
    ],
    ['at 2026-01-02T03:04:05Z: late', 'at 2027-12-31 23:59:59.123+01:00: late'],
    ['bad pointer 0xdeadbeef', 'bad pointer 0x1'],
    ['timed out after 1m30s', 'timed out after 1m 30s', 'timed out after 3.2s'],
    ['first line\nsecond', 'first line\nother'],
  ];
  for (const [a, ...others] of same)
    for (const b of others) expect(errorSignature(a!)).toBe(errorSignature(b));
});

test('errors with different causes have different signatures', () => {
  const different: string[][] = [
    ['exit code 1: full', 'exit code 2: full'],
    ['killed by SIGKILL (exit code 137)', 'killed by SIGTERM (exit code 143)'],
    ['timed out after 5s', 'exit code 5'],
  ];
  for (const [a, b] of different) expect(errorSignature(a!)).not.toBe(errorSignature(b!));
});

test('a signature shows … for variable parts, has at most 200 characters, and is never empty', () => {
  expect(errorSignature('exit code 7: host 10.0.0.1 port 22 refused "x"')).toBe(
    'exit code 7: host … port … refused …',
  );
  expect(errorSignature('x y '.repeat(1000)).length).toBeLessThanOrEqual(200);
  expect(errorSignature('')).toBe('no error message');
  expect(errorSignature('\n\n')).toBe('no error message');
});
