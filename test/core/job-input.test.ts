import { describe, expect, test } from 'bun:test';
import { runInNewContext } from 'node:vm';
import { COMMAND_LIMIT } from '../../src/core/jobs/command-text.ts';
import { readJobObject } from '../../src/core/jobs/job-input.ts';
import { STDIN_LIMIT } from '../../src/core/jobs/read-field.ts';
import { errorOf } from '../support/error-of.ts';

const NOW = Date.UTC(2030, 0, 15, 12);
const read = (fields: object) => readJobObject({ command: 'true', ...fields }, NOW);
const json = (text: string) => readJobObject(JSON.parse(text), NOW);

describe('every spelling of a field is accepted', () => {
  test.each([
    [['id', 'job_id', 'jobId'], 'job1', { id: 'job1' }],
    [
      ['max_retries', 'maxRetries', 'max-retries', 'retries', 'max_attempts', 'max_tries'],
      4,
      { maxRetries: 4 },
    ],
    [
      ['run_at', 'runAt', 'scheduled_at', 'available_at', 'run_after'],
      '+10m',
      { runAt: NOW + 600_000, delayMs: 600_000 },
    ],
    [['run_at'], 1_893_456_000, { runAt: Date.UTC(2030, 0) }],
    [['run_at'], 1_893_456_000_000, { runAt: Date.UTC(2030, 0) }],
    [['run_at', 'runAt'], new Date(NOW + 1), { runAt: NOW + 1 }],
    [['timeout', 'timeout_seconds'], 30, { timeoutMs: 30_000 }],
    [['timeout', 'timeout_seconds', 'timeout_ms'], '5m', { timeoutMs: 300_000 }],
    [['timeout_ms', 'timeoutMs'], 1500, { timeoutMs: 1500 }],
    [['timeout'], 'none', { timeoutMs: null }],
    [['delay'], 90, { runAt: NOW + 90_000, delayMs: 90_000 }],
    [['delay'], '1h30m', { runAt: NOW + 5_400_000, delayMs: 5_400_000 }],
    [['delay'], 0, { runAt: NOW, delayMs: 0 }],
    [['backoff_base', 'backoffBase', 'base_backoff'], 1.5, { backoffBase: 1.5 }],
    [['priority'], -3, { priority: -3 }],
    [['priority'], 'low', { priority: -10 }],
    [['priority'], 'normal', { priority: 0 }],
    [['priority'], 'HIGH', { priority: 10 }],
    [['priority'], 'urgent', { priority: 20 }],
    [['argv'], ['ls', '', '-l'], { argv: ['ls', '', '-l'] }],
    [['env'], { A: '1', b_2: '' }, { env: { A: '1', b_2: '' } }],
    [['tags'], { team: 'x y' }, { tags: { team: 'x y' } }],
    [['cwd'], '/tmp', { cwd: '/tmp' }],
    [['max_retries'], 0, { maxRetries: 0 }],
    [['stdin', 'input'], 'a\0b\n', { stdin: 'a\0b\n' }],
    [['split_output', 'splitOutput'], true, { splitOutput: true }],
    [['split_output'], false, {}],
    [['clean_env', 'cleanEnv'], true, { cleanEnv: true }],
    [['clean_env'], false, {}],
    [['secret_env', 'secretEnv', 'secrets'], ['A', 'B', 'A'], { secretEnv: ['A', 'B'] }],
    [['secret_env'], 'A, B', { secretEnv: ['A', 'B'] }],
    [['secret_env'], [], {}],
    [['backoff', 'backoff_strategy', 'backoffStrategy'], 'Linear', { policy: { backoff: 'linear' } }],
    [['retry_delay', 'retryDelay', 'retry_delay_ms'], '2s', { policy: { retryDelayMs: 2000 } }],
    [['retry_delay'], 0, { policy: { retryDelayMs: 0 } }],
    [['backoff_max', 'backoffMax', 'max_backoff', 'backoff_cap'], 90, { policy: { backoffMaxMs: 90_000 } }],
    [['backoff_max_ms'], 90, { policy: { backoffMaxMs: 90 } }],
    [['jitter', 'backoff_jitter'], 0.25, { policy: { jitter: 0.25 } }],
  ] as [string[], unknown, object][])('%j accept %j', (names, value, expected) => {
    for (const name of names) {
      const { input, warnings } = read({ [name]: value });
      const { runAtFrom = () => undefined, ...fields } = input;
      expect({ input: fields, warnings }).toEqual({ input: { command: 'true', ...expected }, warnings: [] });
      // An hour later, a delay counts from then, and an absolute time stays the same.
      if (input.runAt !== undefined)
        expect(runAtFrom(NOW + 3_600_000)).toBe(input.runAt + (input.delayMs === undefined ? 0 : 3_600_000));
    }
  });

  test('cmd is an alias of command, and its text is kept unchanged', () => {
    const command = ` printf '%s\n' "größe 🎉" | cat # ${'x'.repeat(100_000)}\n`;
    expect(readJobObject({ cmd: command }, NOW).input).toEqual({ command });
  });

  test('null means not given', () => {
    const given = {
      id: null,
      timeout_ms: null,
      run_at: null,
      argv: null,
      backoff_base: null,
      priority: null,
    };
    expect(read(given)).toEqual({ input: { command: 'true' }, warnings: [] });
  });

  test('undefined is the same as not given, also beside another spelling', () => {
    const given = { timeout: undefined, run_at: undefined, retries: undefined, max_retries: 2 };
    expect(read(given)).toEqual({ input: { command: 'true', maxRetries: 2 }, warnings: [] });
  });

  test('a Date of another realm is a time', () => {
    const foreign = runInNewContext(`new Date(${NOW})`);
    expect(foreign instanceof Date).toBeFalse();
    expect(read({ run_at: foreign }).input.runAt).toBe(NOW);
  });
});

describe('fields that set the same value', () => {
  test.each([
    [{ cmd: 'false' }],
    [{ max_retries: 3, maxRetries: 3 }],
    [{ timeout: 1, timeout_ms: 1000 }],
    [{ timeout_ms: 1000, timeout_seconds: 1 }],
    [{ delay: 5, run_at: '+5s' }],
    [{ runAt: '+5s', scheduled_at: '+6s' }],
    [{ id: 'a', job_id: 'b' }],
    [{ retry_delay: 1, retry_delay_ms: 1000 }],
    [{ backoff_max: 1, backoff_max_ms: 1000 }],
  ] as const)('beside a command, %j is refused', (fields) => {
    expect(errorOf(() => read(fields)).code).toBe('invalid-job');
  });

  test('are refused with both names', () => {
    const error = errorOf(() => read({ retries: 3, maxRetries: 3 }));
    expect(error.message).toBe('maxRetries and retries cannot be used together');
  });
});

const REFUSED: Record<string, unknown[]> = {
  command: [
    '',
    ' \n',
    5,
    true,
    [],
    {},
    'a\0b',
    'half \ud800',
    'x'.repeat(COMMAND_LIMIT + 1),
    'ä'.repeat(65_536),
  ],
  id: ['', '-x', 5, 'a\nb', 'x'.repeat(129), {}],
  queue: ['', '-x', 7, 'a\u202eb'],
  argv: ['ls', [], [''], [' '], [1], ['ls', null], ['a\0b'], ['half \ud800'], {}],
  max_retries: ['3', -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e9, true, [], {}],
  priority: ['5', '', 'asap', 1.5, 1e300, Number.NaN, true, [1], '__proto__', 'constructor'],
  timeout: [0, -1, Number.NaN, 1e300, true, '', '0', '-1', '5 x', '30m1h', [], {}],
  delay: [-1, Number.NaN, 1e300, 'soon', '-1s', '', true, []],
  run_at: [
    'tomorrow',
    '2030-02-31',
    '',
    -1,
    Number.NaN,
    1e300,
    true,
    {},
    60,
    new Date(Number.NaN),
    new Date(-1),
  ],
  backoff_base: ['2', 0.5, 0, -2, 1001, Number.NaN, {}],
  cwd: ['relative', '', '/a\0b', 5],
  env: [
    'A=1',
    [],
    ['A=1'],
    { A: 1 },
    { A: null },
    { 'A=B': 'x' },
    { '': 'x' },
    { A: 'a\0b' },
    { QUEUECTL_JOB_ID: 'x' },
  ],
  tags: ['a', ['a', 1], [''], { a: 1 }, { '': 'x' }, { 'a\nb': 'x' }],
  depends_on: [
    5,
    [5],
    {},
    [['a']],
    [''],
    ['-a'],
    [{ id: 'a', on: 'maybe' }],
    [{ id: 'a', of: 'b' }],
    Array(1001).fill('a'),
  ],
  on_parent_failure: ['', 'stop', 1],
  stdin: [5, true, [], {}, 'half \ud800', 'x'.repeat(STDIN_LIMIT + 1), 'ä'.repeat(STDIN_LIMIT / 2 + 1)],
  split_output: ['true', 1, []],
  clean_env: ['true', 1, []],
  secret_env: [5, {}, { A: 'x' }, [1], [null], [''], '', ['A=x'], ['A B'], ['QUEUECTL_RUN'], ['a\0b']],
  backoff: ['cubic', '', 2, true, []],
  retry_delay: [-1, 'soon', '', Number.NaN, 1e300, true],
  backoff_max: [0, -1, 'none', '0s', true],
  jitter: ['0.5', -0.1, 1.1, Number.NaN, true],
};

describe('wrong types and values are refused with the name of the field', () => {
  for (const [name, values] of Object.entries(REFUSED)) {
    for (const value of values) {
      test(`${name}: ${Bun.inspect(value).slice(0, 40)}`, () => {
        const error = errorOf(() => read({ [name]: value }));
        expect(error.exitCode).toBe(2);
        expect(error.message).toContain(name);
      });
    }
  }

  test('errors never contain secret values', () => {
    expect(errorOf(() => read({ secret_env: ['A=hush'] })).message).not.toContain('hush');
  });

  test('a command and a stdin of the maximum length are accepted', () => {
    expect(read({ stdin: 'x'.repeat(STDIN_LIMIT) }).input.stdin).toHaveLength(STDIN_LIMIT);
    expect(read({ command: 'x'.repeat(COMMAND_LIMIT) }).input.command).toHaveLength(COMMAND_LIMIT);
  });

  test.each([[null], ['x'], [5], [[]], [[{ command: 'true' }]], [undefined]])(
    '%j is not a job object',
    (value) => {
      expect(errorOf(() => readJobObject(value, NOW)).message).toContain('a job must be a JSON object');
    },
  );
});

describe('unknown fields', () => {
  test.each([
    ['comand', 'command'],
    ['max_retires', 'max_retries'],
    ['prioritiy', 'priority'],
    ['Queue', 'queue'],
  ] as const)('%s is ignored with a warning that suggests %s', (name, meant) => {
    const { input, warnings } = read({ [name]: 1 });
    expect(input).toEqual({ command: 'true' });
    expect(warnings).toEqual([`unknown field '${name}' was ignored; did you mean '${meant}'?`]);
  });

  test('without a similar name get a warning without a suggestion', () => {
    expect(read({ frobnicate: 1 }).warnings).toEqual(["unknown field 'frobnicate' was ignored"]);
  });

  test('get at most 20 suggestions', () => {
    const { warnings } = read(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`queue${i}`, 1])));
    expect(warnings.filter((one) => one.includes('did you mean'))).toHaveLength(20);
    expect(warnings).toHaveLength(50);
  });

  test('fields that queuectl sets itself are ignored silently, whatever they contain', () => {
    const owned = {
      state: 'dead',
      attempts: 'x',
      created_at: 5,
      updated_at: {},
      exit_code: [],
      signal: 1,
      crashes: -1,
    };
    expect(read({ ...owned, unique_key: null })).toEqual({
      input: { command: 'true' },
      warnings: [],
    });
  });

  test('a key named __proto__ or constructor does not change a prototype', () => {
    const { input, warnings } = json(
      '{"command":"true","__proto__":{"id":"evil"},"constructor":1,"env":{"__proto__":"x"}}',
    );
    expect(input.id).toBeUndefined();
    expect(Object.keys(input.env!)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
    expect(({} as { id?: string }).id).toBeUndefined();
    expect(warnings).toHaveLength(2);
  });
});

describe('max_retries of an at-most-once job', () => {
  const atMostOnce = { at_most_once: true };

  test.each([0, 1])('can be %d', (max_retries) => {
    expect(read({ ...atMostOnce, max_retries }).input.maxRetries).toBe(max_retries);
  });

  test('is refused if it is above 1', () => {
    const error = errorOf(() => read({ ...atMostOnce, max_retries: 2 }));
    expect(error).toMatchObject({ code: 'invalid-job' });
    expect((error as Error).message).toContain('max_retries is 2');
    expect(read({ max_retries: 2, at_most_once: false }).input.maxRetries).toBe(2);
  });
});

describe('fields of other queues', () => {
  const at = (ms: number): string => new Date(NOW + ms).toISOString();

  test('a next attempt in the future is the earliest start, under each name', () => {
    for (const name of ['next_run_at', 'nextRunAt', 'next_retry_at', 'next_attempt_at', 'retry_at']) {
      const { input, warnings } = readJobObject({ command: 'true', [name]: at(60_000) }, NOW);
      expect({ name, runAt: input.runAt, warnings }).toEqual({ name, runAt: NOW + 60_000, warnings: [] });
      expect(readJobObject({ command: 'true', [name]: at(-1) }, NOW).input.runAt).toBeUndefined();
      expect(readJobObject({ command: 'true', [name]: null }, NOW).input.runAt).toBeUndefined();
      const both = { command: 'true', [name]: at(60_000), run_at: at(5000) };
      expect(readJobObject(both, NOW).input.runAt).toBe(NOW + 5000);
      expect(() => readJobObject({ command: 'true', [name]: 'soon' }, NOW)).toThrow(name);
    }
  });

  test('fields with the results of a job are ignored without a warning', () => {
    const printed = {
      command: 'true',
      ...{
        status: 'failed',
        locked_by: 'w1',
        locked_at: at(0),
        error_message: 'boom',
        lastError: 'x',
        pid: 7,
      },
      ...{ stdout: 'a', stderr: 'b', completed_at: null, retry_count: 2, exitCode: 1, workerId: 'w' },
    };
    expect(readJobObject(printed, NOW)).toEqual({ input: { command: 'true' }, warnings: [] });
  });

  test('a field that asks for confinement is refused in every spelling', () => {
    for (const name of [
      'sandbox',
      'user',
      'memory_limit',
      'memoryLimit',
      'cpu-limit',
      'run_as',
      'docker',
      'network',
      ...[
        'mem',
        'ram',
        'max_memory',
        'memoryLimitMb',
        'mem-limit',
        'memory_mb',
        'swap',
        'max_cpus',
        'cpu_quota',
        'cores',
      ],
      ...['ulimit', 'ulimits', 'rlimits', 'rlimit_nofile', 'nofile', 'nice', 'niceness', 'ionice', 'umask'],
      ...['docker_image', 'dockerImage', 'container_name', 'podman', 'runAsUser', 'run-as-group', 'readonly'],
    ])
      expect(() => readJobObject({ command: 'true', [name]: 1 }, NOW)).toThrow(
        `'${name}' is not supported: a job runs with the permissions and limits of its worker`,
      );
  });

  test('a field that only contains a word of a confinement is ignored with a warning', () => {
    for (const name of [
      'image_url',
      'memory_usage',
      'cpu_model',
      'username_field',
      'user_agent',
      'nicename',
      'time_limit_note',
    ])
      expect(readJobObject({ command: 'true', [name]: 1 }, NOW).warnings).toHaveLength(1);
  });

  test('a list of tags has empty values', () => {
    expect(readJobObject({ command: 'true', tags: ['a', 'b'] }, NOW).input.tags).toEqual({ a: '', b: '' });
  });
});
