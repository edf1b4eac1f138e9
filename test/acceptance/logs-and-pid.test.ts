import { expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { startGatedJob } from '../support/gated-job.ts';
import { killAll, untilNoProcessOf, workersOf } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

interface JobWithPid {
  pid: number | null;
  state: string;
}

test('show and list print the pid of a running job, and show prints none when the job has ended', async (box) => {
  await box.startWorkers();
  const job = await startGatedJob(box, 'gated');
  const { pid } = await box.json<JobWithPid>(['show', 'gated']);
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('QUEUECTL_JOB_ID=gated');
  expect(Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[4])).toBe(pid!);
  expect((await box.run(['show', 'gated'])).stdout).toContain(`\npid\t${pid}\n`);
  expect(await box.json(['list', '--json=id,pid'])).toEqual([{ id: 'gated', pid }]);
  expect((await box.run(['list', '--format', '{pid}'])).stdout).toBe(`${pid}\n`);
  job.release();
  await box.run(['wait', 'gated']);
  expect(await box.json<JobWithPid>(['show', 'gated'])).toMatchObject({ state: 'completed', pid: null });
  expect((await box.run(['show', 'gated'])).stdout).not.toContain('\npid\t');
});

test('a job has no pid when its process was killed and no worker has noticed it yet', async (box) => {
  const workers = await box.startWorkers();
  await startGatedJob(box, 'gated');
  const { pid } = await box.json<JobWithPid>(['show', 'gated']);
  // The supervisor is killed first, because it would replace its workers.
  await killAll([workers.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
  expect(await box.json<JobWithPid>(['show', 'gated'])).toMatchObject({ state: 'processing', pid });
  process.kill(-pid!, 'SIGKILL');
  await untilNoProcessOf(box, 'gated');
  expect(await box.json<JobWithPid>(['show', 'gated'])).toMatchObject({ state: 'processing', pid: null });
  expect((await box.run(['show', 'gated'])).stdout).not.toContain('\npid\t');
  expect(await box.json(['list', '--json=id,pid'])).toEqual([{ id: 'gated', pid: null }]);
});

test('logs --path prints the paths of output files, and is refused if there are none', async (box) => {
  await box.startWorkers('--concurrency', '2');
  const job = await startGatedJob(box, 'gated');
  const { code, stdout } = await box.run(['logs', '--path', 'gated']);
  expect(code).toBe(0);
  expect(readFileSync(stdout.trimEnd(), 'utf8')).toBe('');
  job.release();
  await box.run(['wait', 'gated']);
  expectRefusal(
    await box.run(['logs', '--path', 'gated']),
    4,
    /output of job 'gated' is stored in the database/,
  );
  await box.run(['enqueue', '--id', 'long', '--split-output', "printf '%20000s' x; echo oops >&2"]);
  await box.run(['wait', 'long']);
  const paths = (await box.run(['logs', '--path', 'long'])).stdout.trimEnd().split('\n');
  expect(paths.map((path) => readFileSync(path).length)).toEqual([20_000, 5]);
  expect(await box.json(['logs', '--path', 'long'])).toEqual({
    id: 'long',
    attempt: 1,
    stdout_path: paths[0],
    stderr_path: paths[1],
  });
  expect((await box.run(['logs', '--path', '--stderr', 'long'])).stdout).toBe(`${paths[1]}\n`);
  await box.run(['enqueue', '--id', 'later', '--delay', '1h', 'true']);
  expectRefusal(await box.run(['logs', '--path', 'later']), 3, /has not started yet/);
  expectRefusal(await box.run(['logs', '--path', '--attempt', '2', 'long']), 3, /no attempt 2/);
});

test('logs prints the output of several jobs, each with a heading', async (box) => {
  for (const id of ['a', 'b']) await box.run(['enqueue', '--id', id, `echo ${id}1; printf ${id}2`]);
  await box.start(['worker', 'start', '--drain']).exit;
  expect((await box.run(['logs', 'a', 'b'])).stdout).toBe('==> a <==\na1\na2\n==> b <==\nb1\nb2');
  expect((await box.run(['logs', 'a', 'b', '-n', '1'])).stdout).toBe('==> a <==\na2\n==> b <==\nb2');
  expect((await box.run(['logs', 'a', 'a'])).stdout).toBe('a1\na2');
  expect(await box.json(['logs', 'a', '@last'])).toEqual([
    { id: 'a', attempt: 1, output: 'a1\na2' },
    { id: 'b', attempt: 1, output: 'b1\nb2' },
  ]);
  expect(await box.json(['logs', 'a'])).toEqual({ id: 'a', attempt: 1, output: 'a1\na2' });
  expectRefusal(await box.run(['logs', '-f', 'a', 'b']), 2, /only one job can be followed, but 2 were given/);
  expectRefusal(await box.run(['logs', 'a', 'nobody']), 3, /no job 'nobody'/);
  expectRefusal(await box.run(['logs']), 2, /the job id is missing/);
});
