import { describe, expect, test } from 'bun:test';
import {
  describeOutcome,
  exitCodeForJob,
  exitCodeOf,
  type Outcome,
  signalOf,
} from '../../src/core/rules/decide.ts';

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

describe('describeOutcome', () => {
  test.each([
    [{ why: 'exited', code: 0 }, 0, null],
    [{ why: 'exited', code: 1 }, 1, 'exit code 1'],
    [{ why: 'exited', code: 126 }, 126, 'exit code 126 (not executable)'],
    [{ why: 'exited', code: 127 }, 127, 'exit code 127 (command not found)'],
    [{ why: 'exited', code: 128 }, 128, 'exit code 128'],
    [{ why: 'exited', code: 137 }, 137, 'killed by SIGKILL (exit code 137)'],
    [{ why: 'exited', code: 143 }, 143, 'killed by SIGTERM (exit code 143)'],
    [{ why: 'exited', code: 255 }, 255, 'exit code 255'],
    [{ why: 'timeout' }, 124, 'timed out after 1m 30s'],
    [{ why: 'cancelled' }, null, 'cancelled while running'],
    [{ why: 'stopped' }, null, 'stopped with its worker'],
    [{ why: 'stopped', byGuard: true }, null, 'stopped because its host could not renew its lease'],
    [{ why: 'spawn-error', message: 'the directory /x is gone' }, null, 'the directory /x is gone'],
    [{ why: 'never-started' }, null, null],
  ] as [Outcome, number | null, string | null][])(
    '%j has the exit code %p and the text %p',
    (outcome, code, text) => {
      expect(exitCodeOf(outcome)).toBe(code);
      expect(describeOutcome(outcome, 90_000, '')).toBe(text);
    },
  );

  test.each([
    [127, 'sh: 1: nope: not found', 'exit code 127 (command not found): sh: 1: nope: not found'],
    [127, 'bash: line 1: nope: unbound variable', 'exit code 127: bash: line 1: nope: unbound variable'],
    [126, 'sh: 1: ./a: Permission denied', 'exit code 126 (not executable): sh: 1: ./a: Permission denied'],
    [126, 'the job gave up', 'exit code 126: the job gave up'],
  ])('exit code %p after %p is described as %p', (code, output, text) => {
    expect(describeOutcome({ why: 'exited', code }, null, output)).toBe(text);
  });

  test('a lost attempt and a timeout without a known limit have a description', () => {
    expect(describeOutcome({ why: 'lost' }, null, '')).toStartWith('lost: ');
    expect(describeOutcome({ why: 'timeout' }, null, '')).toBe('timed out');
  });

  test('the last line of the output follows the description, except after success or a cancel', () => {
    expect(describeOutcome({ why: 'exited', code: 2 }, null, 'no such host')).toBe(
      'exit code 2: no such host',
    );
    expect(describeOutcome({ why: 'exited', code: 0 }, null, 'all well')).toBeNull();
    expect(describeOutcome({ why: 'cancelled' }, null, 'going on')).toBe('cancelled while running');
  });
});

describe('signalOf', () => {
  test.each([
    [null, null],
    [0, null],
    [128, null],
    [129, 'SIGHUP'],
    [130, 'SIGINT'],
    [137, 'SIGKILL'],
    [139, 'SIGSEGV'],
    [143, 'SIGTERM'],
    [159, 'SIGSYS'],
    [255, null],
  ] as const)('exit code %p stands for signal %p', (code, signal) => {
    expect(signalOf(code)).toBe(signal);
  });
});

describe('last_error has at most 512 characters', () => {
  const describeLine = (line: string) => describeOutcome({ why: 'exited', code: 1 }, null, line)!;
  const room = 512 - 'exit code 1: '.length;

  test('512 characters are kept, and 513 are cut and marked', () => {
    expect(describeLine('x'.repeat(room))).toBe(`exit code 1: ${'x'.repeat(room)}`);
    expect(describeLine('x'.repeat(room + 1))).toBe(`exit code 1: ${'x'.repeat(room - 1)}…`);
    expect(describeLine('x'.repeat(100_000))).toHaveLength(512);
  });

  test.each([[0], [1]] as const)('a cut never splits a character (shifted by %d)', (shift) => {
    const text = describeLine('a'.repeat(shift) + '🎉'.repeat(400));
    expect(text.length).toBeLessThanOrEqual(512);
    expect(text.isWellFormed()).toBe(true);
  });

  test('a spawn error is also one line without control characters', () => {
    const text = describeOutcome({ why: 'spawn-error', message: 'cwd /a\nb\x1b[2J is gone' }, null, '')!;
    expect(text).not.toMatch(CONTROL);
  });
});

test.each([
  ['completed', 0, 0],
  ['dead', 7, 7],
  ['dead', 143, 143],
  ['dead', 124, 124],
  ['dead', null, 125],
  ['cancelled', null, 130],
  ['cancelled', 1, 130],
] as const)('waiting for a job that is %s with exit code %p exits with %p', (state, exitCode, code) => {
  expect(exitCodeForJob({ state, exitCode })).toBe(code);
});
