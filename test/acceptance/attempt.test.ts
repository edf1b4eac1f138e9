/** Tests how a job's command runs: environment, directory, limits, timeout, output and processes left behind. */

import { afterAll, beforeAll, expect, test as plainTest } from 'bun:test';
import { existsSync, mkdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attemptNames } from '../support/attempt-files.ts';
import { execute, type JobDetails, untilEnded } from '../support/execute.ts';
import { isAlive } from '../support/processes.ts';
import { configure, lines, sandbox, until } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const box = sandbox();

beforeAll(async () => {
  await configure(box, { 'output-limit': '64k', 'kill-grace': '1s' });
  await box.startWorkers('--count', '2', '--concurrency', '4');
});
afterAll(() => box.cleanup());

plainTest.concurrent(
  'a job that leaves a child in the background completes, and the child keeps running',
  async () => {
    const { job, output } = await execute(box, { command: 'sleep 600 & echo $!; echo done' });
    const child = Number(output.split('\n')[0]);
    expect(job).toMatchObject({ state: 'completed', exit_code: 0 });
    expect(output).toBe(`${child}\ndone\n`);
    expect(isAlive(child)).toBe(true);
    expect(job.history[0]!.left_behind).toContain(child);
    process.kill(child, 'SIGKILL');
  },
);

plainTest.concurrent(
  'a child that left the process group of a completed job is in left_behind while it lives',
  async () => {
    const leave = "setsid sh -c 'echo $$ >left; exec sleep 600' & until test -s left; do sleep 0.02; done";
    const { job, output } = await execute(box, { command: `${leave}; cat left` });
    const child = Number(output);
    expect(isAlive(child)).toBe(true);
    expect(job.history[0]!.left_behind).toEqual([child]);
    process.kill(child, 'SIGKILL');
    await until(() => !isAlive(child), 'the process is gone');
    const { history } = await box.json<typeof job>(['show', job.id]);
    expect(history[0]!.left_behind).toEqual([]);
  },
);

plainTest.concurrent(
  'each attempt gets its job id, number, queue, fence and cookie in the environment',
  async () => {
    const variables =
      '$QUEUECTL_JOB_ID|$QUEUECTL_ATTEMPT|$QUEUECTL_QUEUE|$QUEUECTL_FENCE|$QUEUECTL_RUN|$MINE|$PATH';
    const command = `echo "${variables}" >>who; false`;
    const job = {
      id: 'who am i',
      command,
      queue: 'mail',
      max_retries: 2,
      backoff_base: 1,
      env: { MINE: 'a = "b"' },
    };
    await execute(box, job);
    const printed = lines(join(box.directory, 'who')).map((line) => line.split('|'));
    expect(printed.map(([id, attempt, queue]) => [id, attempt, queue])).toEqual([
      ['who am i', '1', 'mail'],
      ['who am i', '2', 'mail'],
    ]);
    const [first, second] = printed as [string[], string[]];
    expect(Number(second[3])).toBeGreaterThan(Number(first[3]));
    expect(first[4]).not.toBe('');
    expect(second[4]).not.toBe(first[4]!);
    for (const attempt of printed) expect(attempt.slice(5)).toEqual(['a = "b"', process.env.PATH!]);
  },
);

plainTest.concurrent(
  'a job runs in the directory where it was enqueued or in --cwd, and fails if that directory is gone',
  async () => {
    const [here, there, gone] = ['here', 'there', 'gone'].map((name) => join(box.directory, name));
    for (const directory of [here!, there!, gone!]) mkdirSync(directory);
    const withoutCwd = await box.run(['enqueue', 'pwd; echo $PWD'], { cwd: here! });
    expect((await untilEnded(box, withoutCwd.stdout.trim())).output).toBe(`${here}\n${here}\n`);
    const withCwd = await box.run(['enqueue', '--cwd', '../there', 'pwd -P'], { cwd: here! });
    expect((await untilEnded(box, withCwd.stdout.trim())).output).toBe(`${there}\n`);
    const delayed = await box.run(['enqueue', '-r', '1', '--delay', '500ms', 'echo never'], { cwd: gone! });
    rmdirSync(gone!);
    const { job, output } = await untilEnded(box, delayed.stdout.trim());
    expect(job).toMatchObject({ state: 'dead', attempts: 1, exit_code: null });
    expect(job.last_error).toContain(gone!);
    expect(job.last_error).toMatch(/does not exist|is gone/);
    expect(output).toBe('');
  },
);

test('a job has the umask and the resource limits of the user', async (ownBox) => {
  // The runtime raises its own soft limit, so queuectl reads the user's limit from its parent process. That is this
  // shell, which does not use exec.
  const withLimits = ['sh', '-c', 'ulimit -c 0; ulimit -Sn 512; umask 027; "$0" "$@"; :'];
  ownBox.start(['worker', 'start'], { through: withLimits });
  const { output } = await execute(ownBox, {
    command: 'umask; ulimit -Sn; ulimit -Sc; touch file; mkdir dir; stat -c %a file dir',
  });
  expect(output.split('\n')).toEqual(['0027', '512', '0', '640', '750', '']);
});

plainTest.concurrent(
  'a timeout ends grandchildren, processes in other sessions and processes that ignore SIGTERM',
  async () => {
    const pids = 'pids-of-timeout';
    const command = `echo started
    sh -c 'sleep 600 & echo $! >>${pids}; wait' &
    echo $! >>${pids}
    setsid sh -c 'echo $$ >>${pids}; sleep 600; true' &
    sh -c 'trap "" TERM; echo $$ >>${pids}; while :; do sleep 600; done' &
    wait; sleep 600`;
    const { job, output } = await execute(box, { command, timeout: 5 });
    const started = lines(join(box.directory, pids)).map(Number);
    expect(started.length).toBe(4);
    expect(started.filter(isAlive)).toEqual([]);
    expect(job).toMatchObject({ state: 'dead', exit_code: 124, last_error: 'timed out after 5s: started' });
    expect(job.history[0]!.outcome).toBe('timeout');
    expect(output).toStartWith('started\n');
  },
);

plainTest.concurrent(
  'the size of the output of a running attempt is what it has written so far, in both streams',
  async () => {
    for (const [id, split, bytes] of [
      ['writes', false, 20_006],
      ['writes-both', true, 20_006],
    ] as const) {
      const job = {
        id,
        split_output: split,
        command: 'seq -w 1 20000 | head -c 20000; echo later >&2; sleep 600',
      };
      expect((await box.run(['enqueue', JSON.stringify(job)])).code).toBe(0);
      const { history } = await until(async () => {
        const seen = await box.json<JobDetails>(['show', id]);
        return seen.history[0]?.output_bytes === bytes ? seen : false;
      }, 'all bytes are counted');
      expect(history[0]).toMatchObject({ outcome: null, output_bytes: bytes, output_truncated: false });
      expect((await box.run(['show', id])).stdout).toContain('19 KiB');
      await box.json(['cancel', id]);
    }
  },
);

plainTest.concurrent(
  'output of more than 16 KiB is kept whole up to output-limit, and longer output keeps its head and its tail',
  async () => {
    const whole = await execute(box, { command: 'seq 1 9000' });
    expect(whole.output).toBe(Array.from({ length: 9000 }, (_, i) => `${i + 1}\n`).join(''));
    expect(whole.job.history[0]).toMatchObject({
      output_truncated: false,
      output_bytes: whole.output.length,
    });

    const big = await execute(box, { command: 'seq 1 3000000; echo the end; exit 6' });
    expect(big.job).toMatchObject({ state: 'dead', exit_code: 6, last_error: 'exit code 6: the end' });
    expect(big.job.history[0]).toMatchObject({ output_truncated: true, output_bytes: 22_888_904 });
    expect(big.output).toStartWith('1\n2\n3\n');
    expect(big.output).toEndWith('2999999\n3000000\nthe end\n');
    expect(big.output).toMatch(/\n\[queuectl: \d+ bytes of output dropped here\]\n/);
    expect(big.output.length).toBeLessThan(70_000);
  },
);

plainTest.concurrent('the growing output of a running job is trimmed without blocking the job', async () => {
  const command =
    'echo first; head -c 50000000 /dev/zero | tr "\\0" x; touch wrote; until [ -e go ]; do sleep 0.1; done; head -c 5000000 /dev/zero | tr "\\0" y; echo last';
  await box.run(['enqueue', '--id', 'grows', command]);
  await until(() => existsSync(join(box.directory, 'wrote')), 'the job has written everything');
  const attemptsDirectory = join(box.stateDirectory(), 'attempts');
  const largestOutputOnDisk = (): number =>
    Math.max(
      ...attemptNames(box).map(
        (files) =>
          (statSync(join(attemptsDirectory, `${files}.out`), { throwIfNoEntry: false })?.blocks ?? 0) * 512,
      ),
    );
  await until(() => largestOutputOnDisk() < 1_000_000, 'the middle of the output is freed');
  expect((await box.run(['logs', 'grows'])).stdout).toStartWith('first\nxxx');
  writeFileSync(join(box.directory, 'go'), '');
  const { job, output } = await untilEnded(box, 'grows');
  expect(job).toMatchObject({ state: 'completed', exit_code: 0 });
  expect(job.history[0]).toMatchObject({ output_truncated: true, output_bytes: 55_000_011 });
  // Output that came after the last trim is trimmed when the attempt ends.
  expect(output.length).toBeLessThan(70_000);
  expect(output).toEndWith('yyylast\n');
});
