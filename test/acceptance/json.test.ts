import { afterAll, beforeAll, expect, test as plainTest } from 'bun:test';
import { type Sandbox, sandbox, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

type Job = Record<string, unknown>;
interface Status {
  jobs: Record<string, number>;
  workers: Record<string, unknown>[];
}

const STATES = ['pending', 'processing', 'completed', 'failed', 'dead', 'cancelled'];
const JOB_FIELDS =
  `id command argv state attempts max_retries created_at updated_at queue priority run_at next_run_at
  timeout_ms backoff_base depends_on on_parent_failure unique_key name retry_on no_retry_on at_most_once backoff retry_delay_ms backoff_max_ms jitter tags cwd env secret_env split_output stdin stdin_bytes worker_id started_at finished_at exit_code signal
  last_error crashes duration_ms`.split(/\s+/);
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Runs a command and returns its output, which must be one JSON document and nothing else. */
async function printedJson<T = Job[]>(box: Sandbox, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await box.run([...args, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const value = JSON.parse(stdout);
  expect(stdout).toBe(`${JSON.stringify(value)}\n`);
  return value;
}

/** A sandbox that beforeAll fills with one job in each state except cancelled. Its worker runs the processing job. */
const box = sandbox();
const JOBS = {
  pending: {
    ...{ id: 'pending', command: 'true', delay: 3600, tags: { team: 'a' }, env: { K: 'V' } },
    ...{ stdin: 'some\0 text\n', split_output: true, secret_env: ['TOKEN'], backoff: 'linear', jitter: 0.5 },
    ...{ retry_delay: '1500ms', backoff_max: 60 },
  },
  processing: { id: 'processing', command: 'exec sleep 600', priority: 'urgent' },
  completed: { id: 'completed', command: 'seq 1 60000', priority: 'high', timeout: 60 },
  failed: { id: 'failed', command: 'echo why; exit 7', priority: 'high', backoff_base: 1000 },
  dead: { id: 'dead', command: 'kill -KILL $$', max_retries: 1, queue: 'mail' },
};

beforeAll(async () => {
  const added = await box.run(['enqueue', JSON.stringify(Object.values(JOBS))]);
  expect(added).toMatchObject({ code: 0, stderr: '' });
  await box.startWorkers('--concurrency', '2');
  for (const state of Object.keys(JOBS)) await untilState(box, state, state);
});
afterAll(() => box.cleanup());

plainTest('list --json filters jobs by queue and by state, written in upper or lower case', async () => {
  for (const state of STATES) {
    const expected = state === 'cancelled' ? [] : [state];
    for (const spelling of [state, state.toUpperCase()]) {
      const jobs = await printedJson(box, 'list', '--state', spelling);
      expect(jobs.map((job) => [job.id, job.state])).toEqual(expected.map((id) => [id, id]));
    }
  }
  const severalStates = await printedJson(box, 'list', '-s', 'dlq,running', '-s', 'waiting');
  expect(severalStates.map((job) => job.id).sort()).toEqual(['dead', 'pending', 'processing']);
  expect((await printedJson(box, 'list', '--queue', 'mail')).map((job) => job.id)).toEqual(['dead']);
});

plainTest(
  'a job object has every documented field in every state, with null where there is no value',
  async () => {
    for (const job of await printedJson(box, 'list')) {
      for (const field of JOB_FIELDS) expect(job).toHaveProperty(field);
      for (const [field, value] of Object.entries(job)) {
        expect(value).not.toBe(undefined);
        if (field.endsWith('_at') && value !== null) expect(value).toMatch(ISO_TIME);
        if (field.endsWith('_ms') && value !== null) expect(value).toBeInteger();
      }
    }
    const show = async (id: string) => printedJson<Job>(box, 'show', id);
    expect(await show('pending')).toMatchObject({
      argv: null,
      exit_code: null,
      tags: { team: 'a' },
      env: { K: 'V' },
      ...{ stdin: 'some\0 text\n', stdin_bytes: 11, split_output: true, secret_env: ['TOKEN'] },
      ...{ backoff: 'linear', retry_delay_ms: 1500, backoff_max_ms: 60_000, jitter: 0.5 },
    });
    expect(await show('failed')).toMatchObject({ attempts: 1, exit_code: 7, last_error: 'exit code 7: why' });
    expect(await show('dead')).toMatchObject({
      exit_code: 137,
      signal: 'SIGKILL',
      next_run_at: null,
      queue: 'mail',
    });
    expect(await show('completed')).toMatchObject({
      exit_code: 0,
      timeout_ms: 60_000,
      priority: 10,
      last_error: null,
    });
    expect((await show('processing')).worker_id).toBeString();
  },
);

plainTest('status counts every state, including zeros, and shows each worker', async () => {
  const { jobs, workers } = await printedJson<Status>(box, 'status');
  expect(jobs).toEqual({ ...Object.fromEntries(Object.keys(JOBS).map((state) => [state, 1])), cancelled: 0 });
  expect(await printedJson(box, 'worker', 'list')).toEqual(workers);
  expect(workers).toEqual([
    {
      ...{ id: expect.any(String), pid: expect.any(Number), hostname: expect.any(String) },
      ...{ started_at: expect.stringMatching(ISO_TIME), last_heartbeat: expect.stringMatching(ISO_TIME) },
      ...{ status: 'busy', queues: ['*'], current_jobs: ['processing'] },
      ...{ concurrency: expect.any(Number), same_executable: true },
    },
  ]);
  const shown = (await box.run(['status'])).stdout.split('\n');
  for (const state of STATES) expect(shown).toContain(`${state}\t${state === 'cancelled' ? 0 : 1}`);
});

plainTest('a printed job object can be enqueued again under another id, without a warning', async () => {
  for (const printed of await printedJson(box, 'list')) {
    const again = { ...printed, id: `again-${printed.id}`, queue: 'nobody' };
    const added = await box.run(['enqueue', '--json', JSON.stringify(again)]);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    const keptFields =
      'command argv max_retries priority timeout_ms backoff_base run_at tags cwd env secret_env split_output stdin backoff retry_delay_ms backoff_max_ms jitter'.split(
        ' ',
      );
    const pick = (job: Job) => keptFields.map((field) => job[field]);
    // A failed job is enqueued again for the time of its next retry.
    const runAt = printed.state === 'failed' ? printed.next_run_at : printed.run_at;
    expect(pick(JSON.parse(added.stdout))).toEqual(pick({ ...printed, run_at: runAt }));
    expect(JSON.parse(added.stdout)).toMatchObject({ attempts: 0, exit_code: null, state: 'pending' });
  }
});

plainTest('with --json, a warning on stderr is a JSON object', async () => {
  const { stderr } = await box.run(['enqueue', '--json', '--env', 'DB_PASSWORD=hunter2', 'true']);
  expect(JSON.parse(stderr).warning.message).toContain('--secret-env DB_PASSWORD');
});

plainTest('errors with --json are one JSON object on stderr', async () => {
  for (const [args, code] of [
    [['show', 'nobody'], 3],
    [['enqueue', '{"command":'], 2],
    [['enqueue', '--id', 'dead', 'true'], 4],
    [['dlq', 'retry', 'completed'], 4],
    [['dlq', 'purge'], 2],
    [['list', '--nonsense'], 2],
    [['lits'], 2],
    [['config', 'set', 'max-retries', 'x'], 2],
    [['status', '--db', '/'], 5],
  ] as const) {
    const result = await box.run([...args, '--json']);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr.trimEnd()).not.toContain('\n');
    const { error } = JSON.parse(result.stderr);
    expect(error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    expect(error).toHaveProperty('hint');
  }
});

test('list --json prints an empty array for an empty store, and all of 10,000 jobs', async (ownBox) => {
  for (const state of STATES) expect(await printedJson(ownBox, 'list', '--state', state)).toEqual([]);
  expect(await printedJson(ownBox, 'dlq', 'list')).toEqual([]);
  const { jobs } = await printedJson<Status>(ownBox, 'status');
  expect(jobs).toEqual(Object.fromEntries(STATES.map((state) => [state, 0])));

  const jobsIn = (queue: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      id: `${queue}-${i}`,
      command: 'true',
      queue,
      max_retries: 1,
    }));
  const allJobs = [...jobsIn('run', 5000), ...jobsIn('wait', 5000)];
  await ownBox.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(allJobs) });
  const workers = ownBox.start([
    'worker',
    'start',
    '--queue',
    'run',
    '--drain',
    '--concurrency',
    '8',
    '--quiet',
  ]);
  expect(await workers.exit).toBe(0);
  for (const [state, queue] of [
    ['pending', 'wait'],
    ['completed', 'run'],
  ] as const) {
    const listed = await printedJson(ownBox, 'list', '--state', state);
    expect(listed.length).toBe(5000);
    expect(new Set(listed.map((job) => job.id))).toEqual(new Set(jobsIn(queue, 5000).map((job) => job.id)));
  }
  expect((await printedJson(ownBox, 'list')).length).toBe(10_000);
  expect((await printedJson(ownBox, 'list', '--limit', '7')).length).toBe(7);
});

test('--json after -- belongs to the job: the command prints text, also in an error', async (box) => {
  const added = await box.run(['enqueue', '--', 'echo', '--json']);
  expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\w+\n$/), stderr: '' });
  const { code, stderr } = await box.run(['list', 'x', '--', '--json']);
  expect({ code, stderr: stderr.split(':')[0] }).toEqual({ code: 2, stderr: 'error' });
});
