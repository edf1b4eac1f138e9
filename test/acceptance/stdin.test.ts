import { afterAll, beforeAll, expect, test as plainTest } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileNames } from '../support/attempt-files.ts';
import { execute, untilEnded } from '../support/execute.ts';
import { killAll, untilWorkerOf } from '../support/processes.ts';
import { lines, sandbox, until, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const MIB = 1024 ** 2;
const box = sandbox();

beforeAll(async () => {
  await box.startWorkers('--count', '2', '--concurrency', '4');
});
afterAll(() => box.cleanup());

/** Enqueues a job and returns its output. `args` and `stdin` are those of the enqueue command. */
async function outputOf(args: string[], stdin?: string): Promise<string> {
  const added = await box.run(['enqueue', ...args], stdin === undefined ? {} : { stdin });
  expect(added).toMatchObject({ code: 0, stderr: '' });
  return (await untilEnded(box, added.stdout.trim())).output;
}

plainTest.concurrent(
  'a job reads stdin from text, a file or a pipe, for shell commands and programs',
  async () => {
    const file = join(box.directory, 'input');
    writeFileSync(file, '\ufeffgröße\0\r\n\n');
    expect(await outputOf(['--stdin', 'a text ', 'cat'])).toBe('a text ');
    expect(await outputOf(['--stdin', 'a text', '--', 'cat'])).toBe('a text');
    // The file is read when the job is enqueued, so a later change has no effect.
    const delayed = await box.run(['enqueue', '--stdin', '@input', '--delay', '1s', 'cat']);
    writeFileSync(file, 'changed');
    expect((await untilEnded(box, delayed.stdout.trim())).output).toBe('\ufeffgröße\0\r\n\n');
    expect(await outputOf(['--stdin', '-', 'tr a-z A-Z'], 'piped\n')).toBe('PIPED\n');
    const json = await execute(box, { command: 'cat /dev/stdin; cat', stdin: 'from JSON' });
    expect(json.output).toBe('from JSONfrom JSON');
  },
);

plainTest.concurrent('without --stdin or with an empty text, the stdin of a job is /dev/null', async () => {
  expect(await outputOf(['readlink /proc/self/fd/0; cat'], 'not for the job')).toBe('/dev/null\n');
  expect(await outputOf(['--stdin', '', 'readlink /proc/self/fd/0; cat'])).toBe('/dev/null\n');
});

plainTest.concurrent('1 MiB of stdin arrives, and a job that never reads it still ends', async () => {
  const stdin = `${'x'.repeat(MIB - 1)}\n`;
  expect(await outputOf(['--stdin', '-', 'wc -c'], stdin)).toBe(`${MIB}\n`);
  expect(await outputOf(['--stdin', '-', 'echo unread'], stdin)).toBe('unread\n');
  expect(await outputOf(['--stdin', '-', 'head -c 3'], stdin)).toBe('xxx');
});

plainTest.concurrent('every attempt reads stdin from the start', async () => {
  const job = { command: 'head -n 1 >>tries; exit 1', stdin: 'one\ntwo\n', max_retries: 3 };
  await execute(box, { ...job, backoff: 'fixed', retry_delay: 0 });
  expect(lines(join(box.directory, 'tries'))).toEqual(['one', 'one', 'one']);
});

plainTest.concurrent('run --stdin - passes its own stdin to the job', async () => {
  const ran = await box.run(['run', '--stdin', '-', 'sort -r'], { stdin: 'a\nb\n' });
  expect(ran).toMatchObject({ code: 0, stdout: 'b\na\n' });
});

plainTest.concurrent(
  'a job printed by show, list, wait or enqueue includes its stdin and can be enqueued again',
  async () => {
    const enqueued = await box.json<{ id: string }>([
      'enqueue',
      '--stdin',
      'again\n',
      '--name',
      'printed',
      'cat',
    ]);
    await untilEnded(box, enqueued.id);
    const [waited] = await box.json<object[]>(['wait', enqueued.id]);
    const [listed] = await box.json<object[]>(['list', '--name', 'printed']);
    for (const printed of [enqueued, waited, listed, await box.json<object>(['show', enqueued.id])]) {
      expect(printed).toMatchObject({ stdin: 'again\n', stdin_bytes: 6 });
      const again = { ...printed, id: undefined, name: 'copy' };
      const added = await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(again) });
      expect(added).toMatchObject({ code: 0, stderr: '' });
      expect((await untilEnded(box, added.stdout.trim())).output).toBe('again\n');
    }
  },
);

test('the command keeps reading when its worker is killed, and its stdin file is removed', async (ownBox) => {
  await ownBox.startWorkers();
  const command = 'read a; echo $a >>got; until test -e go; do sleep 0.05; done; cat >>got; seq 1 9000';
  await ownBox.run(['enqueue', '--id', 'reader', '--stdin', 'one\ntwo\nthree\n', command]);
  const got = join(ownBox.directory, 'got');
  await until(() => lines(got).length === 1, 'the first line was read');
  const worker = await untilWorkerOf(ownBox, 'reader');
  await killAll([worker.pid]);
  expect((await untilWorkerOf(ownBox, 'reader')).pid).not.toBe(worker.pid);
  writeFileSync(join(ownBox.directory, 'go'), '');
  expect(await untilState(ownBox, 'reader', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
  expect(lines(got)).toEqual(['one', 'two', 'three']);
  // The long output stays, but the stdin file does not.
  expect(fileNames(ownBox)).toEqual(['out', 'rec']);
});

test('schedule run gives the stdin of the schedule to the job', async (ownBox) => {
  await ownBox.run(['schedule', 'add', 'tick', '--every', '1h', '--stdin', 'for each\n', 'cat']);
  const ran = await ownBox.run(['schedule', 'run', 'tick']);
  await ownBox.startWorkers();
  expect((await untilEnded(ownBox, ran.stdout.trim())).output).toBe('for each\n');
});
