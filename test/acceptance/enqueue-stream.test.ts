import { expect } from 'bun:test';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Running, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const STREAM = ['enqueue', '--file', '-', '--stream'];

const lines = (running: Running): string[] => running.stdout().split('\n').slice(0, -1);

test('each line is stored and its id is printed while the pipe stays open', async (box) => {
  const stream = box.start(STREAM, { keepStdinOpen: true });
  for (const [i, command] of ['echo one', '{"command": "echo two", "queue": "mail"}'].entries()) {
    stream.child.stdin!.write(`${command}\n`);
    await until(() => lines(stream).length === i + 1, 'the id is printed');
    const job = await box.json<{ command: string }>(['show', lines(stream)[i]!]);
    expect(job.command).toBe(`echo ${['one', 'two'][i]}`);
  }
  // A part of a line waits for the rest of it.
  stream.child.stdin!.write('echo thr');
  stream.child.stdin!.write('ee\n\n# a comment\necho last');
  await until(() => lines(stream).length === 3, 'the third id is printed');
  stream.child.stdin!.end();
  expect(await stream.closed).toBe(0);
  const jobs = await box.json<{ id: string; command: string }[]>(['list']);
  expect(jobs.map((job) => job.command).reverse()).toEqual([
    'echo one',
    'echo two',
    'echo three',
    'echo last',
  ]);
  expect(jobs.map((job) => job.id).reverse()).toEqual(lines(stream));
});

test('with --json, each line is answered by one JSON object', async (box) => {
  const result = await box.run([...STREAM, '--json', '--queue', 'mail'], {
    stdin: 'echo a\nbad\0line\necho b\n',
  });
  expect(result.code).toBe(2);
  const objects = result.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(objects).toMatchObject([
    { command: 'echo a', queue: 'mail' },
    { command: 'echo b', queue: 'mail' },
  ]);
  expect(JSON.parse(result.stderr)).toMatchObject({
    error: { code: 'invalid-job', message: 'line 2: command must not contain NUL bytes' },
  });
});

test('a bad line is reported with its number, adds nothing, and does not stop the stream', async (box) => {
  const stdin = [
    '{"command": "echo 1", "id": "a"}',
    '{"command": "echo 2", "id": "a"}',
    '{"command": "echo 3", "timeout": "soon"}',
    '{"command": "echo 4", "depends_on": ["nobody"]}',
    '{"command"',
    '[{"command": "echo 6"}]',
    'echo 7',
    '',
  ].join('\n');
  const result = await box.run(STREAM, { stdin });
  expect(result.code).toBe(4);
  expect(result.stdout.split('\n')).toHaveLength(3);
  const reported = result.stderr.split('\n').filter((line) => line.startsWith('error: '));
  expect(reported.map((line) => /^error: line (\d): /.exec(line)?.[1])).toEqual(['2', '3', '4', '5', '6']);
  const jobs = await box.json<{ command: string }[]>(['list']);
  expect(jobs.map((job) => job.command)).toEqual(['echo 7', 'echo 1']);
});

test('a line that is not UTF-8 is a bad line', async (box) => {
  writeFileSync(join(box.directory, 'lines'), Buffer.from('echo a\necho \xff\necho b\n', 'latin1'));
  const result = await box.run(['enqueue', '--file', 'lines', '--stream']);
  expect(result).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('line 2: this is not valid UTF-8 text'),
  });
  expect((await box.json<object[]>(['list'])).length).toBe(2);
});

test('a delay starts when its line arrives', async (box) => {
  const stream = box.start([...STREAM, '--delay', '1h'], { keepStdinOpen: true });
  const dueAt: number[] = [];
  for (const i of [0, 1]) {
    await until(() => dueAt.length === 0 || Date.now() > dueAt[0]! - 3_600_000 + 50, 'some time has passed');
    stream.child.stdin!.write(`echo ${i}\n`);
    await until(() => lines(stream).length === i + 1, 'the id is printed');
    const { run_at } = await box.json<{ run_at: string }>(['show', lines(stream)[i]!]);
    dueAt.push(Date.parse(run_at));
  }
  stream.child.stdin!.end();
  expect(await stream.closed).toBe(0);
  expect(dueAt[1]! - dueAt[0]!).toBeGreaterThanOrEqual(50);
});

test('each value for a template is stored at once', async (box) => {
  const result = await box.run([...STREAM, '--template', 'gzip -- {}'], { stdin: 'a b.txt\n\n#c\n' });
  expect(result.code).toBe(0);
  const jobs = await box.json<{ command: string }[]>(['list']);
  expect(jobs.map((job) => job.command)).toEqual(["gzip -- '#c'", "gzip -- 'a b.txt'"]);
});

test('a stream without lines adds nothing, creates no store and exits with 0', async (box) => {
  expect(await box.run(STREAM)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(existsSync(join(box.home, 'queue.db'))).toBe(false);
});

test('if the reader of the ids goes away, the stream ends with 141 and reads no more lines', async (box) => {
  const script = `{ i=0; while [ $i -lt 3000 ]; do echo "echo $i"; i=$((i+1)); done; } |
      { "$0" enqueue --file - --stream; echo $? >code; } | head -n 1; cat code`;
  const result = await box.run([], { through: ['sh', '-c', script] });
  expect(result.stdout.trim().split('\n').at(-1)).toBe('141');
  expect(result.stderr).toBe('');
  expect((await box.json<object[]>(['list'])).length).toBeLessThan(3000);
});

test('flags for one job or for all jobs together are refused, and so is a stream without a file', async (box) => {
  for (const flag of ['--id=a', '--idempotency-key=k', '--wait', '--follow'])
    expect((await box.run([...STREAM, flag], { stdin: 'true\n' })).stderr).toMatch(
      /^error: --stream and --[\w-]+ cannot be combined/,
    );
  expect((await box.run(['enqueue', '--stream', 'true'])).stderr).toStartWith(
    'error: --stream requires --file',
  );
  expect(existsSync(join(box.home, 'queue.db'))).toBe(false);
});

test('a stream ends if its store is moved away while it waits for a line', async (box) => {
  const stream = box.start(STREAM, { keepStdinOpen: true });
  stream.child.stdin!.write('echo one\n');
  await until(() => lines(stream).length === 1, 'the id is printed');
  renameSync(box.home, `${box.home}-moved`);
  expect(await stream.closed).toBe(5);
  expect(stream.output()).toContain('was removed or replaced while in use');
  renameSync(`${box.home}-moved`, box.home);
  expect((await box.json<object[]>(['list'])).length).toBe(1);
});
