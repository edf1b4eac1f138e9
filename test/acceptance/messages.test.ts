import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGatedJob } from '../support/gated-job.ts';
import { killAll, untilNoProcessOf, workersOf } from '../support/processes.ts';
import { configure, enqueue, until, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

const WITH_FULL_STDOUT = ['sh', '-c', 'exec "$@" >/dev/full', 'sh'];

test('enqueue with a full stdout fails and reports that the jobs were added', async (box) => {
  const one = await box.run(['enqueue', '--id', 'one', 'true'], { through: WITH_FULL_STDOUT });
  expect(one.code).toBe(1);
  expect(one.stderr).toMatch(/^error: cannot write the output: .*; job one was added\n/);
  const file = await box.run(['enqueue', '--file', '-'], { through: WITH_FULL_STDOUT, stdin: 'a\nb\n' });
  expect(file.stderr).toMatch(/^error: cannot write the output: .*; 2 jobs were added\n/);
  expect(await box.json(['list'])).toHaveLength(3);
  expect((await box.run(['list'], { through: WITH_FULL_STDOUT })).stderr).toMatch(
    /^error: cannot write the output: /,
  );
});

test('a full stderr does not change the exit code or stdout of a command', async (box) => {
  const through = ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh'];
  const added = await box.run(['enqueue', '--id', 'a', '{"command":"true","unknown":1}'], { through });
  expect(added).toEqual({ code: 0, stdout: 'a\n', stderr: '' });
  expect((await box.run(['show', 'nobody'], { through })).code).toBe(3);
});

test('quotes around whole values of an --env-file are removed, and other quotes stay', async (box) => {
  const file = join(box.directory, 'env');
  writeFileSync(file, `A="a b"\nexport B='c $HOME'\nC="half\nD=plain "x"\nE=""\n`);
  await box.run(['enqueue', '--id', 'job', '--env-file', file, 'true']);
  const { env } = await box.json<{ env: Record<string, string> }>(['show', 'job']);
  expect(env).toEqual({ A: 'a b', B: 'c $HOME', C: '"half', D: 'plain "x"', E: '' });
});

test('an error about a long dependency cycle is shortened', async (box) => {
  const jobs = Array.from({ length: 1000 }, (_, i) => ({
    ...{ id: `n${i}`, command: 'true', depends_on: [`n${(i + 1) % 1000}`] },
  }));
  const stdin = jobs.map((job) => `${JSON.stringify(job)}\n`).join('');
  const { code, stderr } = await box.run(['enqueue', '--file', '-'], { stdin });
  expect(code).toBe(2);
  expect(stderr.length).toBeLessThan(400);
  expect(stderr).toMatch(/circular dependency: 'n\d+' -> .*….*, 1000 jobs in total/);
  expect(await box.json(['list'])).toEqual([]);
});

test('wait warns and exits with 0 when no job matches', async (box) => {
  await enqueue(box, 'job', 'true');
  expect(await box.run(['wait', '--queue', 'none'])).toEqual({
    code: 0,
    stdout: '',
    stderr: 'warning: no jobs found, so there is nothing to wait for\n',
  });
});

test('an action prints why it did not change a job, or how many jobs it did not change', async (box) => {
  for (const id of ['a', 'b']) await enqueue(box, id, 'true');
  const firstLine = async (...args: string[]): Promise<string> =>
    (await box.run(args)).stderr.split('\n')[0]!;
  expect(await firstLine('release', 'a')).toBe("error: nothing was released: job 'a' is not held");
  expect(await firstLine('release', 'a', 'b')).toBe('error: nothing was released: 2 jobs are not held');
  expect(await firstLine('retry', 'a')).toBe(
    "error: nothing was retried: job 'a' is not dead, cancelled or failed",
  );
  await box.run(['hold', 'a']);
  expect(await firstLine('hold', 'a')).toBe("error: nothing was held: job 'a' is already held");
  expect(await firstLine('release', 'a', 'b')).toBe('warning: 1 job is not held');
});

test('an editor that changes nothing leaves the job unchanged, and one that breaks the JSON is refused', async (box) => {
  await enqueue(box, 'job', 'echo old');
  const before = await box.json(['show', 'job']);
  const edit = (editor: string) => box.run(['edit', 'job'], { env: { EDITOR: editor, VISUAL: '' } });
  expect(await edit('true')).toEqual({ code: 0, stdout: '', stderr: '' });
  const broken = await edit("sed -i 's/{/[/'");
  expect(broken.code).toBe(2);
  expect(broken.stderr).toMatch(/Nothing was changed\n {2}to edit the job again: queuectl edit job\n/);
  expect(await box.json(['show', 'job'])).toEqual(before);
});

test('explain reports one last attempt when max_retries is lowered to the number of attempts so far', async (box) => {
  await configure(box, { 'backoff-base': '1000' });
  await box.startWorkers();
  await enqueue(box, 'job', 'false', { max_retries: 5 });
  await untilState(box, 'job', 'failed');
  expect((await box.run(['explain', 'job'])).stdout).toMatch(/^retry 1 of 4 starts in /);
  await box.run(['edit', 'job', '--max-retries', '1']);
  expect((await box.run(['explain', 'job'])).stdout).toMatch(/^the last attempt starts in /);
});

test('explain does not count the slots of a worker that is stopping', async (box) => {
  await box.startWorkers();
  const job = await startGatedJob(box, 'runs');
  await enqueue(box, 'waits', 'true');
  expect((await box.run(['explain', 'waits'])).stdout).toContain('are busy');
  await box.run(['worker', 'stop', '--timeout', '1s']);
  const { stdout } = await box.run(['explain', 'waits']);
  expect(stdout).toContain('all workers are stopping');
  expect(stdout).not.toContain('busy');
  job.release();
});

test('a list in a pipe has no due time for a held job', async (box) => {
  await enqueue(box, 'held', 'true');
  await enqueue(box, 'later', 'true', { delay: 3600 });
  await box.run(['hold', 'held']);
  const rows = (await box.run(['list'])).stdout.trim().split('\n');
  const due = rows.map((row) => [row.split('\t')[0], row.split('\t')[6] !== '']);
  expect(due).toEqual([
    ['later', true],
    ['held', false],
  ]);
});

test('explain and show report that a job is suspended, and explain reports that its worker is gone', async (box) => {
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  await box.run(['suspend', 'job']);
  await until(
    async () =>
      (await box.run(['explain', 'job'])).stdout.includes(
        'the job is suspended; to continue it: queuectl continue job',
      ),
    'explain reports the suspension',
  );
  expect((await box.run(['show', 'job'])).stdout).toContain(
    'suspended\tyes; to continue it: queuectl continue job\n',
  );
  expect((await box.run(['suspend', 'job'])).stderr).toContain("job 'job' is already suspended");
  expect((await box.run(['continue', 'job'])).stdout).toBe('job\n');
  await until(
    async () => !(await box.run(['explain', 'job'])).stdout.includes('suspended'),
    'explain reports no suspension',
  );
  await killAll([workers.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
  expect((await box.run(['explain', 'job'])).stdout).toMatch(
    /^the job has been running for .*, but its worker is gone; the next worker will take over the job\n$/,
  );
  job.release();
  await untilNoProcessOf(box, 'job');
  expect((await box.run(['explain', 'job'])).stdout).toContain('but its worker is gone');
});

test('on a terminal, list counts the matches, list --name shows names, and cancel names the jobs it asks about', async (box) => {
  const jobs = Array.from({ length: 15 }, (_, i) => ({
    ...{ id: `j${i}`, command: `echo ${i}` },
    ...(i < 12 ? { name: 'import', unique_key: `k${i}` } : {}),
  }));
  await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(jobs) });
  const terminalOutput = async (...args: string[]): Promise<string> => {
    const running = onTerminal(box, args, 24, 120);
    await running.closed;
    return running.output().replaceAll('\r\n', '\n');
  };
  expect(await terminalOutput('list', '--name', 'import', '-n', '2')).toMatch(
    / NAME .*\nj11 .* import .*showing 2 of 12 jobs;/s,
  );
  expect(await terminalOutput('list', '-n', '2')).toMatch(/^(?!.* NAME ).*showing 2 of 15 jobs;/s);
  expect(await terminalOutput('list', '--name', 'import', '-n', '12')).not.toContain('showing');
  expect(await terminalOutput('cancel', '--name', 'import', '--dry-run')).toMatch(
    /j0 .*j9 .*\nand 2 more\n12 jobs would be cancelled\n$/s,
  );
  const asked = onTerminal(box, ['cancel', '--name', 'import'], 24, 120);
  await until(() => asked.output().includes('cancel 12 jobs (j0, j1, j2, …)? [y/N]'), 'the question');
  asked.type('n\r');
  expect(await asked.closed).toBe(1);
  const show = (await box.run(['show', 'j3'])).stdout;
  expect(show).toContain('name\timport\n');
  expect(show).toContain('unique key\tk3\n');
  // Scripts rely on the column numbers of a piped list, so it has no name column, and new columns come after the command.
  const cells = (await box.run(['list', '-n', '1', '--name', 'import'])).stdout.split('\t');
  expect(cells.slice(7)).toEqual([expect.any(String), 'no_worker\n']);
});
