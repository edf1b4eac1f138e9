import { describe, expect, test } from 'bun:test';
import { readJobObject } from '../../src/core/jobs/job-input.ts';
import { toJobObject } from '../../src/core/jobs/job-object.ts';
import type { JobWithReason } from '../../src/core/jobs/waiting-reason.ts';

const NOW = Date.UTC(2030, 0, 15, 12);

const minimal: JobWithReason = {
  ...{
    id: 'job1',
    command: 'echo hello',
    argv: null,
    queue: 'default',
    priority: 0,
    maxRetries: 3,
    timeoutMs: null,
  },
  ...{
    runAt: null,
    backoffBase: null,
    cwd: '/tmp',
    env: {},
    tags: {},
    name: null,
    hooks: {},
    policy: {},
    unique: null,
    dependsOn: [],
    stdin: null,
    stdinBytes: 0,
    splitOutput: false,
    secretEnv: [],
    cleanEnv: false,
    state: 'pending',
    held: false,
    blocked: false,
    delayed: false,
    attempts: 0,
    crashes: 0,
    waitingFor: 'ready',
  },
  ...{ createdAt: NOW, updatedAt: NOW, dueAt: null, workerId: null, startedAt: null, finishedAt: null },
  ...{ exitCode: null, lastError: null, durationMs: null },
};

const full: JobWithReason = {
  ...minimal,
  ...{
    argv: ['echo', 'it is'],
    queue: 'mail',
    priority: -10,
    maxRetries: 0,
    timeoutMs: 1500,
    runAt: NOW + 1,
  },
  ...{ backoffBase: 1.5, env: { A: '=1' }, tags: { team: 'x' }, state: 'failed', attempts: 2, crashes: 1 },
  ...{ dueAt: NOW + 4000, workerId: 'w1', startedAt: NOW, finishedAt: NOW + 250, exitCode: 137 },
  ...{
    lastError: 'killed by SIGKILL (exit code 137)',
    durationMs: 250,
    hooks: { dead: 'mail me', failure: 'none' },
    dependsOn: [
      { id: 'a', on: 'ok' },
      { id: 'b', on: 'any' },
    ],
    policy: {
      noRetryOn: [64, 65],
      atMostOnce: true,
      backoff: 'linear',
      retryDelayMs: 0,
      backoffMaxMs: 1500,
      jitter: 0.5,
      onParentFailure: 'hold',
    },
    unique: null,
    stdin: 'a\0\u{1f600}\n',
    stdinBytes: 7,
    splitOutput: true,
    secretEnv: ['TOKEN', 'KEY'],
    cleanEnv: true,
  },
};

const DOCUMENTED_FIELDS =
  `id command argv state attempts max_retries created_at updated_at queue priority run_at next_run_at
  timeout_ms backoff_base depends_on on_parent_failure unique_key name tags retry_on no_retry_on at_most_once backoff retry_delay_ms backoff_max_ms jitter secret_env clean_env split_output stdin stdin_bytes on_complete on_failure on_dead cwd env worker_id pid started_at finished_at exit_code signal
  last_error crashes duration_ms waiting_for`.split(/\s+/);

describe('a job object', () => {
  test.each([
    ['minimal', minimal],
    ['full', full],
  ] as const)('of a %s job has exactly the documented fields', (_, job) => {
    const printed = JSON.parse(JSON.stringify(toJobObject(job)));
    expect(Object.keys(printed).toSorted()).toEqual(DOCUMENTED_FIELDS.toSorted());
  });

  test('has ISO times in UTC, durations in whole ms, and the signal from the exit code', () => {
    expect(toJobObject(full)).toMatchObject({
      created_at: '2030-01-15T12:00:00.000Z',
      run_at: '2030-01-15T12:00:00.001Z',
      next_run_at: '2030-01-15T12:00:04.000Z',
      started_at: '2030-01-15T12:00:00.000Z',
      finished_at: '2030-01-15T12:00:00.250Z',
      timeout_ms: 1500,
      duration_ms: 250,
      exit_code: 137,
      signal: 'SIGKILL',
    });
    expect(toJobObject(minimal)).toMatchObject({
      run_at: null,
      signal: null,
      depends_on: [],
      unique_key: null,
    });
  });
});

describe('a printed job can be enqueued again', () => {
  test('with defaults', () => {
    expect(readJobObject(JSON.parse(JSON.stringify(toJobObject(minimal))), NOW)).toEqual({
      input: {
        ...{ id: 'job1', command: 'echo hello', queue: 'default', priority: 0, maxRetries: 3 },
        ...{ cwd: '/tmp', env: {}, tags: {}, dependsOn: [] },
      },
      warnings: [],
    });
  });

  test("with every field: the user's fields are kept, and queuectl's own are not", () => {
    expect(readJobObject(JSON.parse(JSON.stringify(toJobObject(full))), NOW)).toEqual({
      input: {
        ...{ id: 'job1', command: 'echo hello', argv: ['echo', 'it is'], queue: 'mail', priority: -10 },
        ...{ maxRetries: 0, timeoutMs: 1500, runAt: NOW + 1, runAtFrom: expect.any(Function) },
        ...{ backoffBase: 1.5, cwd: '/tmp' },
        ...{
          env: { A: '=1' },
          tags: { team: 'x' },
          hooks: { dead: 'mail me', failure: 'none' },
          dependsOn: full.dependsOn,
          policy: {
            noRetryOn: [64, 65],
            atMostOnce: true,
            backoff: 'linear',
            retryDelayMs: 0,
            backoffMaxMs: 1500,
            jitter: 0.5,
            onParentFailure: 'hold',
          },
          stdin: 'a\0\u{1f600}\n',
          splitOutput: true,
          secretEnv: ['TOKEN', 'KEY'],
          cleanEnv: true,
        },
      },
      warnings: [],
    });
  });

  test('unless its stdin is missing', () => {
    const withoutStdin = toJobObject({ ...full, stdin: null });
    expect(() => readJobObject(JSON.parse(JSON.stringify(withoutStdin)), NOW)).toThrow(
      /stdin is missing.* 7 bytes/,
    );
  });
});
