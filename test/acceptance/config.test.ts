import { expect } from 'bun:test';
import { startGatedJob } from '../support/gated-job.ts';
import { processesOfJob, untilHeartbeats } from '../support/processes.ts';
import { configure, enqueue, type JobJson, lines, until, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const QUICK_HEARTBEATS = { 'heartbeat-interval': '200ms' };

test('running workers apply changed backoff settings', async (box) => {
  await configure(box, QUICK_HEARTBEATS);
  await box.startWorkers();
  const retryDelayMs = async (id: string): Promise<number> => {
    await enqueue(box, id, 'exit 1', { max_retries: 3 });
    const job = (await untilState(box, id, 'failed')) as JobJson & { updated_at: string };
    return Date.parse(job.next_run_at!) - Date.parse(job.updated_at);
  };
  await configure(box, { 'backoff-base': '100' });
  await untilHeartbeats(box, 2);
  expect(await retryDelayMs('changed')).toBe(100_000);
  await configure(box, { 'backoff-strategy': 'fixed', 'retry-delay': '7m' });
  await untilHeartbeats(box, 2);
  expect(await retryDelayMs('fixed')).toBe(420_000);
  for (const key of ['backoff-strategy', 'backoff-base']) await box.json(['config', 'unset', key]);
  await untilHeartbeats(box, 2);
  expect(await retryDelayMs('default')).toBe(2000);
});

test('running workers apply a changed kill-grace', async (box) => {
  await configure(box, { ...QUICK_HEARTBEATS, 'kill-grace': '100s' });
  await box.startWorkers();
  await configure(box, { 'kill-grace': '300ms' });
  await untilHeartbeats(box, 2);
  const command = "trap '' TERM; echo start >> job.log; while :; do sleep 0.1; done";
  await enqueue(box, 'job', command, { max_retries: 1, timeout: 1 });
  expect(await untilState(box, 'job', 'dead')).toMatchObject({ exit_code: 124, attempts: 1 });
  expect(processesOfJob(box, 'job')).toEqual([]);
  expect(lines(`${box.directory}/job.log`)).toEqual(['start']);
});

test('running workers apply a changed stop-timeout', async (box) => {
  await configure(box, { 'kill-grace': '300ms' });
  const workers = await box.startWorkers();
  await configure(box, { ...QUICK_HEARTBEATS, 'stop-timeout': '200ms' });
  await untilHeartbeats(box, 2);
  await startGatedJob(box, 'job');
  process.kill(workers.pid, 'SIGTERM');
  await workers.exit;
  expect(await box.json<JobJson>(['show', 'job'])).toMatchObject({ state: 'pending', attempts: 0 });
});

/** Accepted spellings of keys with a value to set, the key itself, and the text that `config get` then prints. */
const SPELLINGS: [typed: string, value: string, key: string, text: string][] = [
  ['max-retries', '5', 'max-retries', '5'],
  ['max_retries', '6', 'max-retries', '6'],
  ['maxRetries', '7', 'max-retries', '7'],
  ['max.retries', '8', 'max-retries', '8'],
  ['MAX_RETRIES', '9', 'max-retries', '9'],
  ['default_max_retries', '10', 'max-retries', '10'],
  ['default-max-tries', '11', 'max-retries', '11'],
  ['backoff_base', '1.5', 'backoff-base', '1.5'],
  ['base_backoff', '3', 'backoff-base', '3'],
  ['backoffBase', '4', 'backoff-base', '4'],
  ['job_timeout', '90', 'job-timeout', '90s'],
  ['jobTimeout', 'none', 'job-timeout', 'none'],
  ['job-timeout-sec', '30', 'job-timeout', '30s'],
  ['job_timeout_seconds', '31', 'job-timeout', '31s'],
  ['job_timeout_ms', '1500', 'job-timeout', '1500ms'],
  ['poll_interval_ms', '250', 'poll-interval', '250ms'],
  ['pollInterval', '2', 'poll-interval', '2s'],
  ['check-interval', '3', 'poll-interval', '3s'],
  ['worker-poll-interval', '5', 'poll-interval', '5s'],
  ['worker_poll_interval', '4s', 'poll-interval', '4s'],
  ['worker-heartbeat-interval', '6', 'heartbeat-interval', '6s'],
  ['heartbeat_interval', '700ms', 'heartbeat-interval', '700ms'],
  ['graceful-shutdown-timeout', '20', 'stop-timeout', '20s'],
  ['stop_timeout', '1m', 'stop-timeout', '1m'],
  ['job-retry-delay', '9', 'retry-delay', '9s'],
  ['retry_delay', '8', 'retry-delay', '8s'],
  ['backoff.strategy', 'LINEAR', 'backoff-strategy', 'linear'],
  ['backoffMax', '1h', 'backoff-max', '1h'],
  ['backoff_jitter', '0.5', 'backoff-jitter', '0.5'],
  ['kill_grace', '2', 'kill-grace', '2s'],
  ['lease', '45', 'lease', '45s'],
  ['crash_limit', '4', 'crash-limit', '4'],
  ['workerCount', '3', 'worker-count', '3'],
  ['output_limit', '1MiB', 'output-limit', '1M'],
];

test('config set, get and unset accept other spellings of a key', async (box) => {
  const get = async (key: string): Promise<string> => (await box.run(['config', 'get', key])).stdout.trim();
  for (const [typed, value, key, text] of SPELLINGS) {
    const result = await box.run(['config', 'set', typed, value]);
    expect({ typed, ...result }).toMatchObject({ typed, code: 0, stderr: '' });
    expect([typed, await get(key), await get(typed)]).toEqual([typed, text, text]);
  }
  const listSettings = async () =>
    box.json<{ key: string; text: string; is_default: boolean }[]>(['config', 'list']);
  const changedKeys = new Set(SPELLINGS.map(([, , key]) => key));
  const isChanged = (row: { is_default: boolean }): boolean => !row.is_default;
  expect(
    (await listSettings())
      .filter(isChanged)
      .map((row) => row.key)
      .sort(),
  ).toEqual([...changedKeys].sort());
  for (const [typed] of SPELLINGS) expect((await box.run(['config', 'unset', typed])).code).toBe(0);
  expect((await listSettings()).filter(isChanged)).toEqual([]);
});

test('an invalid key or value is refused and changes nothing', async (box) => {
  const settingsBefore = await box.json(['config', 'list']);
  for (const [key, value, hint] of [
    ['max-retrys', '5', 'max-retries'],
    ['nonsense', '5', 'config list'],
    ['max-retries', '-1', 'max-retries'],
    ['max-retries', 'NaN', 'max-retries'],
    ['max-retries', '1e309', 'max-retries'],
    ['backoff-base', '0.5', 'backoff-base'],
    ['poll-interval', '5 moons', 'duration'],
    ['backoff-strategy', 'random', 'exponential'],
    // The lease must be at least three heartbeat intervals, whichever of the two is changed.
    ['lease', '10s', 'heartbeat-interval'],
    ['heartbeat-interval', '1m', 'lease'],
    ['max-retries-ms', '5', 'max-retries'],
  ] as const) {
    const result = await box.run(['config', 'set', key, value]);
    expect({ key, value, code: result.code }).toEqual({ key, value, code: 2 });
    expect(result.stderr).toContain(hint);
  }
  expect((await box.run(['config', 'get', 'max-retrys'])).code).toBe(2);
  expect(await box.json(['config', 'list'])).toEqual(settingsBefore);
});

test('changed defaults apply to jobs that are enqueued afterwards', async (box) => {
  await box.startWorkers();
  await configure(box, { max_retries: '1', job_timeout: '1', kill_grace_ms: '100' });
  await enqueue(box, 'job', 'echo start >> job.log; sleep 600');
  await until(() => lines(`${box.directory}/job.log`).length === 1, 'the job runs');
  const outcome = { exit_code: 124, attempts: 1, max_retries: 1, timeout_ms: 1000 };
  expect(await untilState(box, 'job', 'dead')).toMatchObject(outcome);
});
