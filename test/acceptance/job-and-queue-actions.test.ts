import { expect } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStopped } from '../faults/process-control.ts';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { killAll, processesOfJob, untilNoProcessOf, workersOf } from '../support/processes.ts';
import { configure, enqueue, type JobJson, lines, until, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

test('cancel stops a running job and all its processes before it returns', async (box) => {
  await box.startWorkers();
  await enqueue(box, 'job', 'sh -c "trap : TERM; sleep 600 & sleep 600" & setsid sleep 600 & sleep 600');
  await untilState(box, 'job', 'processing');
  const result = await box.run(['cancel', 'job']);
  expect(result).toEqual({ code: 0, stdout: 'job\n', stderr: '' });
  const job = await box.json<JobJson>(['show', 'job']);
  expect(job).toMatchObject({ state: 'cancelled', attempts: 0 });
  expect(processesOfJob(box, 'job')).toEqual([]);
});

test('cancel stops a running job although every worker was killed', async (box) => {
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  await killAll([workers.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
  expect((await box.run(['cancel', 'job'])).code).toBe(0);
  expect(await box.json<JobJson>(['show', 'job'])).toMatchObject({ state: 'cancelled' });
  await untilNoProcessOf(box, 'job');
  expect(job.traces()).not.toEqual(ONE_RUN);
});

test('the long output of a job that was cancelled without a worker can still be read', async (box) => {
  const workers = await box.startWorkers();
  await enqueue(box, 'job', 'head -c 50000 /dev/zero | tr "\\0" x; touch wrote; sleep 600');
  await until(() => existsSync(join(box.directory, 'wrote')), 'the job has written its output');
  await killAll([workers.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
  expect((await box.run(['cancel', 'job'])).code).toBe(0);
  expect((await box.run(['logs', 'job'])).stdout).toBe('x'.repeat(50_000));
});

test('cancel keeps a waiting job from running, and its exit code reports finished and unknown jobs', async (box) => {
  await enqueue(box, 'done', 'true');
  await box.run(['worker', 'start', '--drain']);
  await enqueue(box, 'waits', 'touch ran');
  expect((await box.run(['cancel', 'done'])).code).toBe(4);
  const partial = await box.run(['cancel', 'waits', 'done']);
  expect(partial).toEqual({ code: 7, stdout: 'waits\n', stderr: 'warning: 1 job had already finished\n' });
  await box.run(['worker', 'start', '--drain']);
  expect(await box.json<JobJson>(['show', 'waits'])).toMatchObject({ state: 'cancelled', attempts: 0 });
  expect((await box.run(['cancel', 'nope', 'waits'])).code).toBe(3);
});

test('a bulk action requires --yes or --dry-run, and an id prefix or @last selects one job', async (box) => {
  for (const id of ['mail-1', 'mail-2', 'other']) {
    await box.run(['enqueue', '--id', id, '--queue', id.slice(0, 4), '--tag', `n=${id}`, 'true']);
  }
  const refused = await box.run(['hold', '--queue', 'mail']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('--yes');
  expect((await box.run(['hold', '--queue', 'mail', '--dry-run'])).stdout).toBe('mail-1\nmail-2\n');
  expect((await box.run(['list', '--state', 'pending'])).stdout.split('\n')).toHaveLength(4);
  expect((await box.run(['hold', '--queue', 'mail', '--yes'])).stdout).toBe('mail-1\nmail-2\n');
  expect((await box.run(['explain', 'mail-1'])).stdout).toContain('held');
  await box.run(['worker', 'start', '--drain']);
  expect((await box.run(['list', '--state', 'pending', '--quiet'])).stdout).toBe('mail-2\nmail-1\n');
  expect((await box.run(['release', 'mail'])).code).toBe(2);
  expect((await box.run(['release', '--tag', 'n=mail-1'])).stdout).toBe('mail-1\n');
  expect((await box.run(['edit', 'mail-2', '--priority', 'high', '--set-queue', 'slow'])).code).toBe(0);
  expect(await box.json(['show', 'mail-2'])).toMatchObject({ priority: 10, queue: 'slow' });
  expect(await box.json(['show', 'oth'])).toMatchObject({ id: 'other' });
  expect((await box.run(['delete', '@last'])).stdout).toBe('other\n');
  expect((await box.run(['show', 'oth'])).code).toBe(3);
});

test('pausing, limiting and resuming a queue affects running workers', async (box) => {
  await box.startWorkers('--count', '3');
  await box.run(['queue', 'set', 'mail', '--concurrency', '1']);
  await box.run(['queue', 'pause', 'mail']);
  for (const id of ['a', 'b', 'c']) {
    const command = `test -e busy && echo overlap >>ran; touch busy; sleep 0.2; rm busy; echo ${id} >>ran`;
    await box.run(['enqueue', '--id', id, '--queue', 'mail', command]);
  }
  await enqueue(box, 'other', 'true');
  await untilState(box, 'other', 'completed');
  expect((await box.run(['explain', 'a'])).stdout).toContain('paused');
  expect((await box.run(['list', '--queue', 'mail', '--state', 'pending', '-q'])).stdout).toBe('c\nb\na\n');
  await box.run(['queue', 'resume', 'mail']);
  await untilState(box, 'c', 'completed');
  expect((await box.run(['logs', 'c'])).stdout).toBe('');
  await enqueue(box, 'look', 'cat ran');
  await untilState(box, 'look', 'completed');
  expect((await box.run(['logs', 'look'])).stdout).toBe('a\nb\nc\n');
});

test('suspend stops all processes of a job, and continue resumes them', async (box) => {
  await box.startWorkers();
  await enqueue(box, 'job', 'while ! test -e go; do sleep 0.02; done & wait');
  await untilState(box, 'job', 'processing');
  await until(() => processesOfJob(box, 'job').length >= 3, 'the job has started its children');
  expect((await box.run(['suspend', 'job'])).stdout).toBe('job\n');
  writeFileSync(join(box.directory, 'go'), '');
  // SIGSTOP takes effect with a delay, so the test polls until all processes are stopped.
  await until(() => processesOfJob(box, 'job').every(isStopped), 'every process is stopped');
  expect(processesOfJob(box, 'job').length).toBeGreaterThanOrEqual(3);
  expect(await box.json<JobJson>(['show', 'job'])).toMatchObject({ state: 'processing' });
  expect((await box.run(['continue', 'job'])).code).toBe(0);
  await untilState(box, 'job', 'completed');
  expect((await box.run(['suspend', 'job'])).code).toBe(4);
});

test('a job that is cancelled while it is being stopped for its timeout is not retried', async (box) => {
  await configure(box, { 'kill-grace': '3s' });
  const workers = await box.startWorkers();
  const command = 'trap "" TERM; echo start >>traces; while :; do sleep 0.1; done';
  await enqueue(box, 'job', command, { timeout: 1, max_retries: 3 });
  await until(() => workers.output().includes('stopping (timeout)'), 'the job has timed out');
  expect((await box.run(['cancel', 'job'])).code).toBe(0);
  expect(await box.json<JobJson>(['show', 'job'])).toMatchObject({ state: 'cancelled' });
  expect(lines(join(box.directory, 'traces'))).toEqual(['start']);
});

test('a rate limit of 10/s spreads fifty jobs over at least 4.5 s, and --drain waits for all of them', async (box) => {
  await box.run(['queue', 'set', 'api', '--rate', '10/s']);
  await box.run(['enqueue', '--queue', 'api', '--file', '-'], { stdin: 'echo ran >>runs\n'.repeat(50) });
  expect((await box.run(['worker', 'start', '--count', '2', '--concurrency', '2', '--drain'])).code).toBe(0);
  expect(lines(join(box.directory, 'runs'))).toHaveLength(50);
  // started_at is the time of the claim. On a busy machine a process may start long after its claim.
  const jobs = await box.json<{ started_at: string }[]>(['list', '--queue', 'api']);
  const starts = jobs.map((job) => Date.parse(job.started_at)).sort((a, b) => a - b);
  expect(starts).toHaveLength(50);
  expect(starts.at(-1)! - starts[0]!).toBeGreaterThanOrEqual(4500);
});

test('edit opens one job in an editor, and a failing editor or an invalid value changes nothing', async (box) => {
  await box.run(['enqueue', '--id', 'job', '--timeout', '5m', 'echo old']);
  const edit = (editor: string) => box.run(['edit', 'job'], { env: { EDITOR: editor, VISUAL: '' } });
  const failed = await edit('false');
  expect(failed).toMatchObject({ code: 1, stdout: '' });
  expect(failed.stderr).toBe("error: the editor 'false' failed. Nothing was changed\n");
  expect(await edit("sed -i 's/echo old/{/'")).toMatchObject({ code: 0 });
  expect(await edit('sed -i \'s/"priority": 0/"priority": "no"/\'')).toMatchObject({ code: 2, stdout: '' });
  expect(
    await edit('sed -i -e \'s/"command": .*,/"command": "echo new",/\' -e \'/timeout_ms/d\''),
  ).toMatchObject({ code: 0 });
  expect(await box.json(['show', 'job'])).toMatchObject({
    command: 'echo new',
    timeout_ms: null,
    priority: 0,
  });
  expect((await box.run(['edit', 'job'], { env: { EDITOR: '', VISUAL: '' } })).code).toBe(2);
});

test('declining a confirmation or editing without a change prints that nothing was changed', async (box) => {
  for (const id of ['n1', 'n2']) await box.run(['enqueue', '--queue', 'no', '--id', id, 'true']);
  const cancel = onTerminal(box, ['cancel', '--queue', 'no']);
  await until(() => cancel.output().includes('[y/N]'), 'the question');
  cancel.type('n\r');
  expect(await cancel.closed).toBe(1);
  expect(cancel.output()).toContain('nothing was changed');
  const edit = onTerminal(box, ['edit', 'n1'], 24, 80, { env: { EDITOR: 'true', VISUAL: '' } });
  expect(await edit.closed).toBe(0);
  expect(edit.output()).toBe('nothing was changed\r\n');
});

test('invalid arguments are refused and change nothing', async (box) => {
  await enqueue(box, 'job', 'true');
  for (const args of [
    ['cancel'],
    ['cancel', 'job', '--queue', 'default'],
    ['list', '--where', 'attempts>>3'],
    ['list', '--where', 'sleep(9)=1'],
    ['list', '--tag', 'x'],
    ['edit', 'job', '--priority', 'x'],
    ['queue', 'set', 'mail'],
    ['queue', 'set', 'mail', '--concurrency', '0'],
    ['queue', 'set', 'mail', '--rate', '5'],
    ['queue', 'pause'],
  ]) {
    const result = await box.run(args);
    expect({ args, code: result.code, stdout: result.stdout }).toEqual({ args, code: 2, stdout: '' });
  }
  expect(await box.json(['queue', 'list'])).toHaveLength(1);
  expect(await box.json<JobJson>(['show', 'job'])).toMatchObject({ state: 'pending', attempts: 0 });
});

test('without USER and LOGNAME, a pause still names the account', async (box) => {
  await enqueue(box, 'job', 'true');
  const account = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
  await box.run(['queue', 'pause', 'default'], { env: { USER: '', LOGNAME: '' } });
  const [queue] = await box.json<{ paused_by: string }[]>(['queue', 'list']);
  expect(queue!.paused_by).toStartWith(`${account}@`);
});
