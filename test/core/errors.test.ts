import { describe, expect, test } from 'bun:test';
import { ERRORS, type ErrorCode, errorObject, QueueError } from '../../src/core/errors.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];

describe('the error table', () => {
  test.each(CODES.map((code) => [code] as const))(
    '%s has a valid exit code, status and name, and no empty hint',
    (code) => {
      const { exit, status, hint } = ERRORS[code];
      expect([1, 2, 3, 4, 5, 6, 7]).toContain(exit);
      expect(status >= 400 && status <= 599).toBe(true);
      expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(hint).not.toBe('');
    },
  );

  test.each([
    ['usage', 2],
    ['unknown-command', 2],
    ['unknown-flag', 2],
    ['unknown-setting', 2],
    ['invalid-value', 2],
    ['invalid-job', 2],
    ['invalid-json', 2],
    ['job-not-found', 3],
    ['job-exists', 4],
    ['wrong-state', 4],
    ['key-reused', 4],
    ['store-busy', 5],
    ['not-a-database', 5],
    ['newer-schema', 5],
    ['older-schema', 5],
    ['not-permitted', 6],
    ['internal', 1],
  ] as const)('%s exits with %d', (code, exit) => {
    expect(new QueueError(code, 'x').exitCode).toBe(exit);
  });

  test('the error for invalid JSON suggests --command', () => {
    expect(ERRORS['invalid-json'].hint).toContain('--command');
  });
});

describe('QueueError', () => {
  test('has a code, a message, the hint of the table, and a cause', () => {
    const cause = new Error('below');
    const error = new QueueError('job-not-found', "there is no job 'x'", undefined, { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'QueueError',
      code: 'job-not-found',
      hint: ERRORS['job-not-found'].hint,
    });
    expect(error.message).toBe("there is no job 'x'");
    expect(error.cause).toBe(cause);
  });

  test('uses its own hint instead of that of the table', () => {
    expect(new QueueError('job-not-found', 'x', 'queuectl dlq list').hint).toBe('queuectl dlq list');
  });

  test('is printed as an object with its code, message and hint, which may be null', () => {
    expect(errorObject(new QueueError('invalid-value', 'no'))).toEqual({
      error: { code: 'invalid-value', message: 'no', hint: null },
    });
  });
});
