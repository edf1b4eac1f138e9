import { expect } from 'bun:test';
import { join } from 'node:path';
import { startGatedJob } from '../support/gated-job.ts';
import { killAll, untilWorkerOf, workersOf } from '../support/processes.ts';
import {
  configure,
  EXECUTABLE,
  enqueue,
  type JobJson,
  lines,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const HOOK_EVENTS = ['complete', 'failure', 'dead', 'idle'];

/** Sets hooks that append event, job id, state, exit code, queue, attempts and error as one line to a file. */
async function setHooks(box: Sandbox, events = HOOK_EVENTS): Promise<void> {
  const variables = 'EVENT JOB_ID STATE EXIT_CODE QUEUE ATTEMPTS ERROR'.split(' ');
  const values = variables.map((name) => `"$QUEUECTL_HOOK_${name}"`).join(' ');
  const append = `printf '%s|%s|%s|%s|%s|%s|%s\\n' ${values} >> ${box.directory}/hookLines`;
  await configure(box, Object.fromEntries(events.map((event) => [`on-${event}`, append])));
}

/** Returns the lines that hooks have appended to the file, sorted. */
const hookLines = (box: Sandbox): string[] => lines(join(box.directory, 'hookLines')).sort();
const drain = (box: Sandbox, ...args: string[]) => box.run(['worker', 'start', '--drain', ...args]);
const hookJobs = (box: Sandbox) => box.json<JobJson[]>(['list', '--queue', 'hooks']);

test('a hook runs once per event with its data in the environment, also if the worker serves another queue', async (box) => {
  await setHooks(box);
  await enqueue(box, 'good', 'true', { queue: 'mail' });
  await enqueue(box, 'bad', 'echo \'$(touch bad) `id` "quoted"\'; exit 3', {
    ...{ queue: 'mail', max_retries: 2, backoff_base: 1 },
  });
  expect((await drain(box, '--queue', 'mail')).code).toBe(0);
  const error = 'exit code 3: $(touch bad) `id` "quoted"';
  expect(hookLines(box)).toEqual([
    'complete|good|completed|0|mail|1|',
    `dead|bad|dead|3|mail|2|${error}`,
    `failure|bad|dead|3|mail|2|${error}`,
    `failure|bad|failed|3|mail|1|${error}`,
    `idle|bad|dead|3|mail|2|${error}`,
  ]);
  expect(await box.json(['worker', 'list'])).toEqual([]);
  // The hooks completed and triggered no further hooks.
  expect((await hookJobs(box)).map((job) => job.state)).toEqual(Array(5).fill('completed'));
});

test('a failing hook does not change its job, is retried like any job, and triggers no hooks itself', async (box) => {
  await configure(box, {
    'on-complete': 'echo try >> tries; exit 1',
    'max-retries': '2',
    'backoff-base': '1',
  });
  for (const event of ['failure', 'dead', 'idle'])
    await configure(box, { [`on-${event}`]: `echo ${event} >> hookLines` });
  await enqueue(box, 'job', 'true', { cwd: box.directory, on_complete: 'echo try >> tries; exit 1' });
  await drain(box);
  expect(await box.json<JobJson>(['show', 'job'])).toMatchObject({
    state: 'completed',
    exit_code: 0,
    attempts: 1,
  });
  expect(lines(join(box.directory, 'tries'))).toEqual(['try', 'try']);
  const hooks = await box.json<(JobJson & { name: string })[]>(['list', '--queue', 'hooks']);
  expect(hooks.map((hook) => [hook.name, hook.state])).toEqual([
    ['on-idle', 'completed'],
    ['on-complete', 'dead'],
  ]);
});

test("a job's own hooks, by flag or field, override the settings, and the value none disables a hook", async (box) => {
  await setHooks(box, ['complete', 'dead']);
  await box.run(['enqueue', '--id', 'own', '--on-complete', 'echo own >> own', 'true']);
  await enqueue(box, 'silent', 'exit 1', {
    max_retries: 1,
    on_dead: 'none',
    onFailure: 'echo failed >> own',
  });
  await drain(box);
  expect(hookLines(box)).toEqual([]);
  expect(lines(join(box.directory, 'own')).sort()).toEqual(['failed', 'own']);
  expect(await box.json(['show', 'silent'])).toMatchObject({
    ...{ on_complete: null, on_failure: 'echo failed >> own', on_dead: 'none' },
  });
  expectRefusal(await box.run(['enqueue', '--on-dead', ' ', 'true']), 2, /--on-dead must not be empty/);
  const twice = ['enqueue', '--on-dead', 'x', '{"command":"true","on_dead":"y"}'];
  expectRefusal(await box.run(twice), 2, /both set on_dead/);
  const env = ['enqueue', '--env', 'QUEUECTL_HOOK_EVENT=x', 'true'];
  expectRefusal(await box.run(env), 2, /cannot be set, because queuectl sets it itself/);
});

test('a hook that enqueues jobs does not cause an endless loop', async (box) => {
  const enqueueingHook = `echo hook >> ${box.directory}/hookLines; ${EXECUTABLE} enqueue 'echo job >> ${box.directory}/hookLines'`;
  await configure(box, { 'on-complete': enqueueingHook, 'on-idle': enqueueingHook });
  await enqueue(box, 'job', 'true');
  await drain(box);
  expect(hookLines(box)).toEqual(['hook', 'hook', 'job', 'job']);
});

test('the idle hook runs once for many jobs, and again after another job ran', async (box) => {
  await setHooks(box, ['idle']);
  await box.startWorkers('--count', '2', '--concurrency', '2');
  await enqueue(box, 'later', 'true', { delay: 3600 });
  await box.run(['enqueue', '--file', '-'], { stdin: 'sleep 0.1\n'.repeat(20) });
  await until(() => hookLines(box).length > 0, 'idle');
  expect(await box.json(['list', '--state', 'completed', '--queue', 'default'])).toHaveLength(20);
  await enqueue(box, 'next', 'true');
  await until(() => hookLines(box).length > 1, 'idle again');
  await drain(box);
  expect(hookLines(box).map((line) => line.split('|')[0])).toEqual(['idle', 'idle']);
  expect(hookLines(box).some((line) => line.startsWith('idle|next|'))).toBe(true);
});

test('the idle hook runs once for a chain of jobs', async (box) => {
  await setHooks(box, ['idle']);
  await enqueue(box, 'a', 'true');
  await enqueue(box, 'b', 'true', { depends_on: ['a'] });
  await enqueue(box, 'c', 'true', { depends_on: ['b'] });
  await drain(box);
  expect(hookLines(box)).toEqual(['idle|c|completed|0|default|1|']);
});

for (const exitCode of [0, 3]) {
  test(`hooks of a job that exits with ${exitCode} run once although its worker was killed while it ran`, async (box) => {
    await setHooks(box);
    const supervisor = await box.startWorkers();
    const job = await startGatedJob(box, 'job', exitCode);
    const worker = await untilWorkerOf(box, 'job');
    await killAll([supervisor.pid, worker.pid]);
    job.release();
    await box.startWorkers('--count', '2');
    await untilState(box, 'job', exitCode === 0 ? 'completed' : 'dead');
    const expected = exitCode === 0 ? ['complete', 'idle'] : ['dead', 'failure', 'idle'];
    await until(() => hookLines(box).length >= expected.length, 'all hooks have run');
    await drain(box);
    expect(hookLines(box).map((line) => line.split('|')[0])).toEqual(expected);
  });
}

test('each job that ends runs its hook exactly once although workers are killed repeatedly', async (box) => {
  await setHooks(box, ['complete', 'dead']);
  const jobs = Array.from({ length: 60 }, (_, i) => ({
    id: `j${i}`,
    command: `exit ${i % 2}`,
    max_retries: 1,
  }));
  await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(jobs) });
  await box.startWorkers('--count', '2');
  for (let kills = 0; kills < 6; kills++) {
    const countBefore = hookLines(box).length;
    await until(
      () => hookLines(box).length > countBefore + 3 || hookLines(box).length === 60,
      'some more hooks have run',
    );
    await killAll((await workersOf(box)).map((worker) => worker.pid));
  }
  await until(() => hookLines(box).length >= 60, 'all hooks have run');
  await until(async () => (await drain(box)).code === 0, 'nothing is left');
  const pairs = hookLines(box)
    .map((line) => line.split('|').slice(0, 2).join(' '))
    .sort();
  expect(pairs).toEqual(jobs.map((job, i) => `${i % 2 === 0 ? 'complete' : 'dead'} ${job.id}`).sort());
});
