import { expect } from 'bun:test';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gatedCommand, gatedJob, ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { isAlive, workersOf } from '../support/processes.ts';
import { enqueue, type JobJson, lines, until, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

test('worker start --detach returns when the workers are ready, and they run jobs and obey worker stop', async (box) => {
  const args = ['worker', 'start', '--detach', '--count', '8'];
  const started = await box.json<{ pid: number; log: string; workers: number }>(args);
  expect(await workersOf(box)).toHaveLength(8);
  expect(isAlive(started.pid)).toBe(true);
  expect(started.log.startsWith(box.stateDirectory())).toBe(true);
  expect(statSync(started.log).mode & 0o777).toBe(0o600);

  const job = await startGatedJob(box, 'job');
  job.release();
  await untilState(box, 'job', 'completed');
  expect(job.traces()).toEqual(ONE_RUN);
  expect((await box.run(['worker', 'stop'])).code).toBe(0);
  expect(await workersOf(box)).toEqual([]);
  await until(() => !isAlive(started.pid), 'the supervisor has ended');
  const log = lines(started.log).join('\n');
  expect(log).toContain(' ready ');
  expect(log).toContain('job=job');
});

test('a detached start that is refused prints the reason and starts nothing', async (box) => {
  mkdirSync(join(box.directory, 'directory'));
  for (const [flags, code] of [
    [['--queue', ''], 2],
    [['--count', '0'], 2],
    [['--db', join(box.directory, 'directory')], 5],
  ] as const) {
    const result = await box.run(['worker', 'start', '--detach', ...flags]);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toStartWith('error: ');
    expect(result.stderr).not.toMatch(/^\s+at /m);
  }
  expect(await workersOf(box)).toEqual([]);
});

test('when detached workers cannot start, the end of their log is shown', async (box) => {
  await box.create();
  // The workers cannot read their host id, because a directory has the name of its file.
  mkdirSync(join(box.stateDirectory(), 'host'), { recursive: true });
  const result = await box.run(['worker', 'start', '--detach']);
  expect(result).toMatchObject({ code: 1, stdout: '' });
  expect(result.stderr).toContain('error: the workers exited during startup');
  expect(result.stderr).toContain('cannot read ');
  expect(result.stderr).not.toMatch(/^\s+at /m);
});

test('worker start --detach --drain succeeds, however soon its workers finish', async (box) => {
  for (let round = 1; round <= 3; round++) {
    const result = await box.run(['worker', 'start', '--detach', '--drain', '--count', '3']);
    expect({ code: result.code, stderr: result.stderr }).toMatchObject({ code: 0 });
    await until(async () => (await workersOf(box)).length === 0, 'the workers have gone');
  }
});

test('--drain exits with 0 when there is nothing to do', async (box) => {
  const workers = box.start(['worker', 'start', '--drain', '--count', '2']);
  expect(await workers.exit).toBe(0);
});

test('--drain waits for retries and reports jobs that are due later', async (box) => {
  const command = 'echo run >> job.log; [ $(wc -l < job.log) -ge 3 ]';
  await enqueue(box, 'job', command, { max_retries: 5, backoff_base: 1 });
  await enqueue(box, 'later', 'echo run >> later.log', { delay: 3600 });
  await enqueue(box, 'hopeless', 'exit 1', { max_retries: 1 });
  const workers = box.start(['worker', 'start', '--drain', '--count', '2']);
  expect(await workers.exit).toBe(0);
  const show = (id: string) => box.json<JobJson>(['show', id]);
  expect(await show('job')).toMatchObject({ state: 'completed', attempts: 3 });
  expect(lines(join(box.directory, 'job.log'))).toHaveLength(3);
  expect(await show('hopeless')).toMatchObject({ state: 'dead', attempts: 1 });
  expect(await show('later')).toMatchObject({ state: 'pending', attempts: 0 });
  expect(lines(join(box.directory, 'later.log'))).toEqual([]);
  await until(() => workers.output().includes('1 job remains (due later'), 'the remaining job is reported');
});

test('--drain waits for a job that another worker runs, and for its retry', async (box) => {
  const otherWorker = await box.startWorkers();
  const [other] = await workersOf(box);
  const job = await startGatedJob(box, 'job', 1, { max_retries: 2, backoff_base: 1 });
  const draining = await box.startWorkers('--drain');
  // The other worker leaves, so only the draining worker can run the retry. A failure just after a signal would not be charged.
  const stop = box.start(['worker', 'stop', other!.id]);
  await until(() => otherWorker.output().includes('stopping'), 'the other worker is stopping');
  expect(draining.child.exitCode).toBe(null);
  job.release();
  expect(await otherWorker.exit).toBe(0);
  expect(await stop.exit).toBe(0);
  expect(await draining.exit).toBe(0);
  expect(await box.json<JobJson>(['show', 'job'])).toMatchObject({ state: 'dead', attempts: 2 });
  expect(job.traces()).toEqual([...ONE_RUN, ...ONE_RUN]);
});

test('--drain --queue waits only for the jobs of its own queues', async (box) => {
  await enqueue(box, 'mail', gatedCommand('mail'), { queue: 'mail' });
  await enqueue(box, 'other', gatedCommand('other'), { queue: 'other' });
  gatedJob(box, 'mail').release();
  const workers = box.start(['worker', 'start', '--drain', '--queue', 'mail']);
  expect(await workers.exit).toBe(0);
  expect(gatedJob(box, 'mail').traces()).toEqual(ONE_RUN);
  expect(gatedJob(box, 'other').traces()).toEqual([]);
  expect(await box.json<JobJson>(['show', 'other'])).toMatchObject({ state: 'pending', attempts: 0 });
});

test('--drain leaves held jobs and jobs of paused queues, and lists them', async (box) => {
  await box.run(['enqueue', '--id', 'failing', '--backoff-base', '100', 'exit 1']);
  const workers = await box.startWorkers();
  await untilState(box, 'failing', 'failed');
  await box.run(['hold', 'failing']);
  process.kill(workers.pid, 'SIGTERM');
  await workers.exit;
  await box.run(['enqueue', '--id', 'mail', '--queue', 'mail', 'true']);
  await box.run(['queue', 'pause', 'mail']);
  const { code, stderr } = await box.run(['worker', 'start', '--drain']);
  expect(code).toBe(0);
  expect(stderr).toContain('2 jobs remain (due later, held, blocked or in a paused queue): mail, failing');
});

const MEBIBYTE = 2 ** 20;

test('the log of detached workers is rotated while they run, and they continue to write to it', async (box) => {
  const { log } = await box.json<{ log: string }>(['worker', 'start', '--detach', '--count', '2']);
  writeFileSync(`${log}.1`, 'the one before\n');
  appendFileSync(log, `the new one\n${'x'.repeat(11 * MEBIBYTE)}\n`);
  await until(() => statSync(log).size < MEBIBYTE, 'the log was emptied');
  expect(readFileSync(`${log}.1`, 'latin1')).toMatch(/the new one\nx+\n/);
  expect(readFileSync(`${log}.1`, 'latin1')).not.toContain('the one before');
  expect(statSync(`${log}.1`).mode & 0o777).toBe(0o600);
  await enqueue(box, 'job', 'true');
  await untilState(box, 'job', 'completed');
  await until(() => readFileSync(log, 'latin1').includes('job=job'), 'the workers still write to the log');
  expect(readFileSync(log, 'latin1')).not.toContain('\0');
});

test('a detached start keeps the ten newest logs of ended workers and the logs of running workers', async (box) => {
  const running = await box.json<{ log: string }>(['worker', 'start', '--detach']);
  utimesSync(running.log, 1, 1);
  const oldLogs = Array.from({ length: 12 }, (_, i) => {
    const log = join(running.log, '..', `worker-${String(i).padStart(12, '0')}.log`);
    for (const file of [log, `${log}.1`]) writeFileSync(file, '');
    utimesSync(log, 1000 + i, 1000 + i);
    return log;
  });
  const next = await box.json<{ log: string }>(['worker', 'start', '--detach']);
  for (const log of [running.log, next.log, ...oldLogs.slice(2)]) expect(existsSync(log)).toBe(true);
  for (const log of oldLogs.slice(0, 2))
    expect([existsSync(log), existsSync(`${log}.1`)]).toEqual([false, false]);
});

test('workers with --drain end as soon as the last job has ended, however seldom they poll', async (box) => {
  await box.run(['config', 'set', 'poll-interval', '1h']);
  const job = gatedJob(box, 'job');
  await enqueue(box, 'job', gatedCommand('job'));
  const workers = box.start(['worker', 'start', '--count', '2', '--drain']);
  await untilState(box, 'job', 'processing');
  job.release();
  expect(await workers.exit).toBe(0);
});
