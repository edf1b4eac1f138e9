import { expect } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { killAll, workersOf } from '../support/processes.ts';
import {
  EXECUTABLE,
  enqueue,
  type JobJson,
  lines,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** Runs a line of bash in which `$q` is the executable. */
function shell(box: Sandbox, line: string, cwd = '/') {
  const env = { ...process.env, ...box.environment, q: EXECUTABLE };
  return spawnSync('bash', ['-c', line], { encoding: 'utf8', env, cwd });
}

test('a job is stored although the warning about it cannot be written', async (box) => {
  const line = `"$q" enqueue '{"id":"x","command":"true","bogus":1}' 2> >(exec 0<&-; sleep 0.2); echo $?`;
  for (let i = 0; i < 5; i++) {
    const { stdout } = shell(box, line.replace('"x"', `"x${i}"`));
    expect(stdout).toBe(`x${i}\n0\n`);
  }
  expect((await box.run(['list', '-q'])).stdout.split('\n')).toHaveLength(6);
});

test('in a deleted directory status works, and enqueue is refused unless --cwd is given', async (box) => {
  const gone = join(box.directory, 'gone');
  mkdirSync(gone);
  const line = `rmdir ${gone}; "$q" status >/dev/null; echo $?; "$q" version; "$q" enqueue true; echo $?; "$q" enqueue --cwd / true >/dev/null; echo $?`;
  const { stdout, stderr } = shell(box, line, gone);
  expect(stdout.split('\n').filter((word) => /^\d$/.test(word))).toEqual(['0', '2', '0']);
  expect(stderr).toContain('the current directory no longer exists');
});

test('a relative path of a database in a deleted directory is refused', async (box) => {
  const gone = join(box.directory, 'gone');
  mkdirSync(gone);
  const { stdout, stderr } = shell(box, `rmdir ${gone}; "$q" --db q.db enqueue --cwd / true; echo $?`, gone);
  expect(stdout).toBe('5\n');
  expect(stderr.split('\n')[0]).toBe('error: cannot find q.db: the current directory no longer exists');
});

test('enqueue --version prints the version and enqueues nothing', async (box) => {
  expect((await box.run(['enqueue', 'true', '--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await box.json(['list'])).toEqual([]);
});

test('a list shows every job once, even while jobs change their states', async (box) => {
  await box.run(['enqueue', '--file', '-'], { stdin: 'true\n'.repeat(300) });
  const workers = box.start(['worker', 'start', '--concurrency', '2', '--drain', '--quiet']);
  let ended = false;
  void workers.exit.then(() => {
    ended = true;
  });
  while (!ended) {
    const listed = (await box.run(['list', '--queue', 'default', '--quiet'])).stdout.split('\n');
    expect(listed.length).toBe(301);
    expect(new Set(listed).size).toBe(301);
  }
});

test('worker stop reaches a supervisor that is about to replace its worker', async (box) => {
  const workers = await box.startWorkers();
  for (let i = 0; i < 5; i++) {
    const [worker] = await until(async () => {
      const listed = await workersOf(box);
      return listed.length > 0 && listed;
    }, 'a worker is listed');
    process.kill(worker!.pid, 'SIGKILL');
    await until(
      async () => (await workersOf(box)).every(({ pid }) => pid !== worker!.pid),
      'the killed worker is no longer listed',
    );
  }
  const stopped = await box.run(['worker', 'stop']);
  expect(stopped).toMatchObject({ code: 0, stdout: 'stopped 1 worker\n' });
  expect(await workers.exit).toBe(0);
  expect(await workersOf(box)).toEqual([]);
});

test('a worker whose database was deleted uses the one that the next command creates', async (box) => {
  await box.run(['config', 'set', 'heartbeat-interval', '200ms']);
  await box.startWorkers();
  for (const name of ['queue.db', 'queue.db-wal', 'queue.db-shm'])
    rmSync(join(box.home, name), { force: true });
  await enqueue(box, 'new', 'true');
  await untilState(box, 'new', 'completed');
});

test('detached workers give jobs the open file limit of the shell that started them', async (box) => {
  shell(box, 'ulimit -Sn 300; "$q" worker start --detach; :', box.directory);
  await enqueue(box, 'limit', 'ulimit -Sn');
  await untilState(box, 'limit', 'completed');
  expect((await box.run(['logs', 'limit'])).stdout).toBe('300\n');
});

test('output that ends while it is being trimmed keeps its tail', async (box) => {
  // The worker trims output with fallocate. This script makes it slow.
  const bin = join(box.directory, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'fallocate'), '#!/bin/sh\nsleep 0.4\nexec /usr/bin/fallocate "$@"\n');
  chmodSync(join(bin, 'fallocate'), 0o755);
  await box.run(['config', 'set', 'output-limit', '1M']);
  const workers = box.start(['worker', 'start'], { env: { PATH: `${bin}:${process.env.PATH}` } });
  await until(() => workers.output().includes(' ready '), 'the worker is ready');
  await enqueue(box, 'loud', 'head -c 6000000 /dev/zero | tr "\\0" x; sleep 0.6; echo; echo last');
  const job = await untilState(box, 'loud', 'completed');
  expect((job as JobJson).exit_code).toBe(0);
  await until(() => !spawnSync('pgrep', ['-f', bin]).stdout.length, 'no fallocate is running');
  const { stdout } = await box.run(['logs', 'loud']);
  expect(stdout.includes('\0')).toBe(false);
  expect(stdout).toEndWith('x\nlast\n');
});

test('a command whose record was deleted is still found and never runs twice at the same time', async (box) => {
  const workers = await box.startWorkers();
  await enqueue(
    box,
    'job',
    'echo start >>traces; while ! test -e go; do sleep 0.05; done; echo end >>traces',
  );
  await until(() => lines(join(box.directory, 'traces')).length === 1, 'the job runs');
  await killAll([workers.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
  rmSync(join(box.stateDirectory(), 'attempts'), { recursive: true });
  const next = await box.startWorkers();
  await until(() => next.output().includes('adopted'), 'the job is adopted');
  expect(lines(join(box.directory, 'traces'))).toEqual(['start']);
  writeFileSync(join(box.directory, 'go'), '');
  // The new workers have created the directory again, so the frame can create its record again when it ends.
  await untilState(box, 'job', 'completed');
  expect(lines(join(box.directory, 'traces'))).toEqual(['start', 'end']);
});

test('a SIGTERM to the supervisor and then to its process group counts as one stop', async (box) => {
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  process.kill(workers.pid, 'SIGTERM');
  process.kill(-workers.pid, 'SIGTERM');
  await until(() => workers.output().includes('stopping'), 'the supervisor stops');
  job.release();
  expect(await workers.exit).toBe(0);
  expect(workers.output()).not.toContain('again');
  expect(job.traces()).toEqual(ONE_RUN);
});

test('invalid arguments of enqueue are refused, and nothing is added', async (box) => {
  for (const line of [
    `"$q" enqueue -- ls "$(printf 'f\\xff')"`,
    `"$q" enqueue -c a -c b`,
    `"$q" --db '' enqueue true`,
    `"$q" enqueue --cwd '' true`,
    `"$q" enqueue '{"command":"x","argv":["y"]}'`,
    `"$q" enqueue --queue 'a,b' true`,
    `"$q" enqueue --id @last true`,
    `"$q" enqueue echo hello`,
  ]) {
    const { status, stdout, stderr } = shell(box, line);
    expect({ line, status, stdout }).toEqual({ line, status: 2, stdout: '' });
    expect(stderr).toStartWith('error: ');
  }
  expect(await box.json(['list'])).toEqual([]);
});

test('FORCE_COLOR=0 turns colors off, and status obeys --color always', async (box) => {
  const status = async (args: string[], FORCE_COLOR: string) =>
    (await box.run(['status', ...args], { env: { FORCE_COLOR, NO_COLOR: '' } })).stdout;
  expect(await status([], '1')).toContain('\x1b[');
  expect(await status([], '0')).not.toContain('\x1b[');
  expect(await status(['--color', 'always'], '')).toContain('\x1b[');
});

test('serve --open warns if it cannot open a browser', async (box) => {
  const server = box.start(['serve', '--port', '0', '--open'], { env: { PATH: box.directory } });
  await until(() => server.output().includes('could not open a browser'), 'the warning');
  server.child.kill('SIGTERM');
  await server.closed;
});

test('a job that removes the directory of all attempts does not harm later jobs', async (box) => {
  await box.startWorkers();
  await enqueue(box, 'vandal', `rm -rf ${join(box.stateDirectory(), 'attempts')}`);
  await untilState(box, 'vandal', 'completed');
  await enqueue(box, 'next', 'echo fine');
  await untilState(box, 'next', 'completed');
  expect((await box.run(['logs', 'next'])).stdout).toBe('fine\n');
});
