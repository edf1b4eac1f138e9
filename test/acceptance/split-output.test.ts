import { afterAll, beforeAll, expect, test as plainTest } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attemptNames, fileNames } from '../support/attempt-files.ts';
import { execute, untilEnded } from '../support/execute.ts';
import { killAll, untilWorkerOf } from '../support/processes.ts';
import { configure, enqueue, lines, type Sandbox, sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

const DROPPED_NOTE = /\n\[queuectl: \d+ bytes of output dropped here\]\n/;
const box = sandbox();

beforeAll(async () => {
  await configure(box, { 'output-limit': '64K' });
  await box.startWorkers('--count', '2', '--concurrency', '4');
});
afterAll(() => box.cleanup());

async function readStreams(ownBox: Sandbox, id: string, ...flags: string[]): Promise<[string, string]> {
  const one = async (flag: string) => (await ownBox.run(['logs', id, flag, ...flags])).stdout;
  return [await one('--stdout'), await one('--stderr')];
}

const SPLIT = { split_output: true };
const numbersTo = (last: number) => Array.from({ length: last }, (_, i) => `${i + 1}\n`).join('');

plainTest.concurrent('logs prints short split output with stdout first, or one stream alone', async () => {
  const command = 'echo e1 >&2; echo o1; echo e2 >&2; echo o2; exit 3';
  const { job, output } = await execute(box, { id: 'short', command, ...SPLIT });
  expect(job).toMatchObject({ exit_code: 3, last_error: 'exit code 3: e2', split_output: true });
  expect(job.history[0]).toMatchObject({ output_bytes: 12, output_truncated: false });
  expect(output).toBe('o1\no2\ne1\ne2\n');
  expect(await readStreams(box, 'short')).toEqual(['o1\no2\n', 'e1\ne2\n']);
  expect(await readStreams(box, 'short', '-n', '1')).toEqual(['o2\n', 'e2\n']);
  expect((await box.run(['logs', 'short', '-n', '1'])).stdout).toBe('o2\ne2\n');
  expect(await box.json<object>(['logs', 'short'])).toEqual({
    ...{ id: 'short', attempt: 1, output: 'o1\no2\ne1\ne2\n', stdout: 'o1\no2\n', stderr: 'e1\ne2\n' },
  });
  const shown = onTerminal(box, ['logs', 'short']);
  await shown.closed;
  expect(shown.stdout().replaceAll('\r', '')).toBe('--- stdout ---\no1\no2\n--- stderr ---\ne1\ne2\n');
});

plainTest.concurrent(
  'long split output stays in two files, and each stream is trimmed on its own',
  async () => {
    await execute(box, { id: 'long', command: 'seq 1 9000 >&2; echo short', ...SPLIT });
    expect(await readStreams(box, 'long')).toEqual(['short\n', numbersTo(9000)]);

    const big = { id: 'big', command: 'seq 1 300000; seq 1 9000 >&2', ...SPLIT };
    const { job } = await execute(box, big);
    expect(job.history[0]).toMatchObject({ output_truncated: true, output_bytes: 1_988_895 + 43_893 });
    const [out, err] = await readStreams(box, 'big');
    expect(out).toStartWith('1\n2\n3\n');
    expect(out).toMatch(DROPPED_NOTE);
    expect(out).toEndWith('\n300000\n');
    expect(out.length).toBeLessThan(66_000);
    expect(err).toBe(numbersTo(9000));
  },
);

plainTest.concurrent(
  'run, enqueue --follow and logs -f write each stream to their own stdout and stderr',
  async () => {
    const command = 'echo o1; echo e1 >&2; echo o2';
    const ran = await box.run(['run', '--split-output', command]);
    expect(ran).toEqual({ code: 0, stdout: 'o1\no2\n', stderr: 'e1\n' });
    const followed = await box.run([
      'enqueue',
      '-q',
      '--follow',
      '--split-output',
      '--',
      'sh',
      '-c',
      command,
    ]);
    expect(followed).toEqual({ code: 0, stdout: 'o1\no2\n', stderr: 'e1\n' });
    const plain = await box.run(['run', command]);
    expect(plain).toEqual({ code: 0, stdout: 'o1\ne1\no2\n', stderr: '' });

    const slow = `${command}; until test -e slow.go; do sleep 0.02; done; seq 1 9000 >&2; seq 1 9000`;
    await enqueue(box, 'slow', slow, SPLIT);
    const bothStreams = box.start(['logs', '-f', 'slow']);
    const stderrOnly = box.start(['logs', '-f', 'slow', '--stderr']);
    const json = box.start(['logs', '-f', 'slow', '--json']);
    await until(
      () => bothStreams.output().includes('o2') && bothStreams.output().includes('e1'),
      'logs -f has printed the first lines',
    );
    writeFileSync(join(box.directory, 'slow.go'), '');
    for (const one of [bothStreams, stderrOnly, json]) expect(await one.closed).toBe(0);
    expect(bothStreams.stdout()).toBe(`o1\no2\n${numbersTo(9000)}`);
    // A single selected stream is written to stdout, even if it is stderr.
    expect(stderrOnly.stdout()).toBe(`e1\n${numbersTo(9000)}`);
    const pieces = json
      .stdout()
      .trimEnd()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    const joined = (stream: string) =>
      pieces
        .filter((one) => one.stream === stream)
        .map((one) => one.output)
        .join('');
    expect(joined('stdout')).toBe(`o1\no2\n${numbersTo(9000)}`);
    expect(joined('stderr')).toBe(`e1\n${numbersTo(9000)}`);
  },
);

test('an adopted job keeps its streams apart, and prune removes its files', async (ownBox) => {
  await ownBox.startWorkers();
  const command =
    'echo o1; echo e1 >&2; echo up >>log; until test -e go; do sleep 0.05; done; seq 1 9000; echo e2 >&2';
  await enqueue(ownBox, 'adopted', command, SPLIT);
  await until(() => lines(join(ownBox.directory, 'log')).length === 1, 'the job runs');
  const worker = await untilWorkerOf(ownBox, 'adopted');
  await killAll([worker.pid]);
  expect((await untilWorkerOf(ownBox, 'adopted')).pid).not.toBe(worker.pid);
  writeFileSync(join(ownBox.directory, 'go'), '');
  const { job } = await untilEnded(ownBox, 'adopted');
  expect(job).toMatchObject({ state: 'completed', attempts: 1, crashes: 0 });
  expect(await readStreams(ownBox, 'adopted')).toEqual([`o1\n${numbersTo(9000)}`, 'e1\ne2\n']);
  expect(fileNames(ownBox)).toEqual(['err', 'out', 'rec']);
  await configure(ownBox, { 'keep-completed': '1ms' });
  await until(async () => {
    await ownBox.run(['prune']);
    return attemptNames(ownBox).length === 0;
  }, 'the files of the attempt are removed');
});

test('logs prints stderr on a new line when stdout ends in the middle of one', async (ownBox) => {
  await ownBox.startWorkers();
  await ownBox.run(['run', '--id', 'job', '--split-output', 'printf out; printf err >&2']);
  expect((await ownBox.run(['logs', 'job'])).stdout).toBe('out\nerr');
  expect((await ownBox.run(['logs', 'job', '--stdout'])).stdout).toBe('out');
  const json = await ownBox.json(['logs', 'job']);
  expect(json).toMatchObject({ output: 'outerr', stdout: 'out', stderr: 'err' });
});
