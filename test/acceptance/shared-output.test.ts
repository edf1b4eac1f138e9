import { expect, test as plainTest } from 'bun:test';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inHosts } from '../support/hosts.ts';
import { onServer } from '../support/postgres.ts';
import { configure, enqueue, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

interface ShownJob {
  history: { output_bytes: number; output_host: string | null; output_file: string | null }[];
}

const attemptOf = async (box: Sandbox, id: string) => (await box.json<ShownJob>(['show', id])).history[0]!;

/** Returns a command that waits until the test calls the function beside it. */
function gate(box: Sandbox, name: string): [command: string, open: () => void] {
  const file = join(box.directory, name);
  return [`until test -e ${file}; do sleep 0.02; done`, () => writeFileSync(file, '')];
}

/** Returns the number of parts that the store has, and their bytes. */
const storedParts = async (box: Sandbox): Promise<{ parts: number; bytes: number }> => {
  const url = box.environment.QUEUECTL_DB!;
  const schema = new URL(url).searchParams.get('schema');
  const { rows } = await onServer(url, (client) =>
    client.query(
      `SELECT count(*) AS parts, coalesce(sum(octet_length(bytes)), 0) AS bytes FROM ${schema}.output_part`,
    ),
  );
  return rows[0] as { parts: number; bytes: number };
};

plainTest(
  'another host follows a job while it runs, and prints its output after its end',
  inHosts(['near', 'far'], async (near, far) => {
    const [wait, open] = gate(far, 'go');
    await far.startWorkers();
    await enqueue(near, 'a', `echo one; ${wait}; echo two`);
    const following = near.start(['logs', '-f', 'a']);
    await until(() => following.stdout() === 'one\n', 'the first line is shown');
    expect((await near.run(['logs', 'a'])).stdout).toBe('one\n');
    const running = await attemptOf(near, 'a');
    expect(running).toMatchObject({ output_bytes: 4, output_host: 'far' });
    expect(readFileSync(running.output_file!, 'utf8')).toBe('one\n');
    expect(await attemptOf(far, 'a')).toMatchObject({
      output_bytes: 4,
      output_host: null,
      output_file: null,
    });
    open();
    expect(await following.closed).toBe(0);
    expect(following.stdout()).toBe('one\ntwo\n');
    for (const box of [near, far]) expect((await box.run(['logs', 'a'])).stdout).toBe('one\ntwo\n');
    expect(await attemptOf(near, 'a')).toMatchObject({
      output_bytes: 8,
      output_host: null,
      output_file: null,
    });
    // Short output is in one place only.
    expect(await storedParts(near)).toEqual({ parts: 0, bytes: 0 });
  }),
);

plainTest(
  'run on another host prints stdout and stderr of split output separately, and exits with the exit code',
  inHosts(['near', 'far'], async (near, far) => {
    await far.startWorkers();
    const command = 'seq 1 9000; seq 1 9000 | sed s/^/e/ >&2; sleep 1; echo out; echo err >&2; exit 3';
    const result = await near.run(['run', '--split-output', '--max-retries', '1', command]);
    const numbers = Array.from({ length: 9000 }, (_, i) => i + 1);
    expect(result.code).toBe(3);
    expect(result.stdout).toBe(`${numbers.join('\n')}\nout\n`);
    expect(result.stderr).toStartWith(`e${numbers.join('\ne')}\nerr\n`);
    const [job] = await near.json<{ id: string }[]>(['list']);
    expect((await near.run(['logs', '--stderr', '-n', '1', job!.id])).stdout).toBe('err\n');
    expect((await near.run(['logs', '--stdout', '-n', '1', job!.id])).stdout).toBe('out\n');
  }),
);

plainTest(
  'characters that are written byte by byte, and any other bytes, arrive unchanged',
  inHosts(['near', 'far'], async (near, far) => {
    await configure(far, { 'shared-output': '1M' });
    await far.startWorkers('--concurrency', '2');
    const pieces = ['\\342', '\\202', '\\254\\360', '\\237\\231', '\\202\\n'];
    await enqueue(near, 'slow', pieces.map((piece) => `printf '${piece}'; sleep 0.6`).join('; '));
    const following = near.start(['logs', '-f', '--json', 'slow']);
    expect(await following.closed).toBe(0);
    const objects = following
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(objects.map(({ output }) => output ?? '').join('')).toBe('€🙂\n');
    expect(objects.length).toBeGreaterThan(2);

    const copy = join(far.directory, 'copy');
    const [wait, open] = gate(far, 'go');
    await enqueue(near, 'bytes', `head -c 300001 /dev/urandom >${copy}; cat ${copy}; ${wait}`);
    const printed = join(near.directory, 'printed');
    const through = ['sh', '-c', `exec "$0" "$@" >${printed}`];
    const bytes = near.start(['logs', '-f', 'bytes'], { through });
    await until(
      () => statSync(printed, { throwIfNoEntry: false })?.size === 300_001,
      'all bytes are printed',
    );
    open();
    expect(await bytes.closed).toBe(0);
    expect(readFileSync(printed).equals(readFileSync(copy))).toBe(true);
    await near.run(['logs', 'bytes'], { through });
    expect(readFileSync(printed).equals(readFileSync(copy))).toBe(true);
  }),
);

const CAP = 16 * 1024;
const CHUNK = 64 * 1024;
const MARK =
  /\n\[queuectl: (\d+) bytes of output dropped here; the output file is (\S+) on the host (\S+)\]\n/;

plainTest(
  'of output over the cap, other hosts see the beginning and the end, and the file that has the rest',
  inHosts(['near', 'far'], async (near, far) => {
    await configure(far, { 'shared-output': '16k' });
    await far.startWorkers();
    const [wait, open] = gate(far, 'go');
    await enqueue(near, 'a', `seq 1 1000000; ${wait}; echo end`);
    const whole = Array.from({ length: 1_000_000 }, (_, i) => `${i + 1}\n`).join('');
    const expectCut = (text: string, all: string): void => {
      const [head, dropped, file, host, tail] = text.split(MARK) as [string, string, string, string, string];
      expect(head).toBe(all.slice(0, CAP));
      expect(tail.length).toBeGreaterThanOrEqual(CAP);
      expect(all.endsWith(tail)).toBe(true);
      expect(head.length + Number(dropped) + tail.length).toBe(all.length);
      expect(host).toBe('far');
      expect(readFileSync(file, 'utf8')).toBe(all);
    };
    const isComplete = async () => {
      expect((await storedParts(near)).bytes).toBeLessThanOrEqual(2 * CAP + CHUNK);
      return (await near.run(['logs', 'a'])).stdout.endsWith('\n1000000\n');
    };
    await until(isComplete, 'the end is shown');
    expectCut((await near.run(['logs', 'a'])).stdout, whole);
    expect((await storedParts(near)).bytes).toBeLessThanOrEqual(2 * CAP + CHUNK);
    open();
    await untilState(near, 'a', 'completed');
    const all = `${whole}end\n`;
    expectCut((await near.run(['logs', 'a'])).stdout, all);
    expectCut((await near.run(['logs', '-f', 'a'])).stdout, all);
    expect((await near.run(['logs', '-n', '2', 'a'])).stdout).toBe('1000000\nend\n');
    expect((await far.run(['logs', 'a'])).stdout).toBe(all);
    const { output_bytes, output_file } = await attemptOf(near, 'a');
    expect(output_bytes).toBe(all.length);
    const path = await near.run(['logs', '--path', 'a']);
    expect(path).toMatchObject({ code: 4, stdout: '' });
    expect(path.stderr).toContain('the output of attempt 1 is on the host far');
    expect((await far.run(['logs', '--path', 'a'])).stdout).toBe(`${output_file}\n`);
    await expectMoved(near, far, all);
    expect((await near.run(['delete', 'a', '--yes'])).code).toBe(0);
    expect((await storedParts(near)).parts).toBe(0);
    expect((await near.run(['db', 'check'])).code).toBe(0);
  }),
);

/** An export has the shared parts on a host without the file, and the whole output on the host that has it. */
async function expectMoved(near: Sandbox, far: Sandbox, all: string): Promise<void> {
  const db = (box: Sandbox, name: string): string[] => ['--db', join(box.directory, name)];
  for (const box of [near, far]) {
    const file = join(box.directory, 'export.jsonl');
    expect((await box.run(['export', file])).code).toBe(0);
    expect((await box.run([...db(box, 'copy.db'), 'import', file])).code).toBe(0);
  }
  const moved = (await near.run([...db(near, 'copy.db'), 'logs', 'a'])).stdout;
  const [head, dropped, tail] = moved.split(/\n\[queuectl: (\d+) bytes of output dropped here\]\n/);
  expect(head).toBe(all.slice(0, CAP));
  expect(all.endsWith(tail!)).toBe(true);
  expect(head!.length + Number(dropped) + tail!.length).toBe(all.length);
  expect((await far.run([...db(far, 'copy.db'), 'logs', 'a'])).stdout).toBe(all);
}

plainTest(
  'with shared-output 0 nothing is shared, and other hosts are told where the output is',
  inHosts(['near', 'far'], async (near, far) => {
    await configure(far, { 'shared-output': '0' });
    await far.startWorkers();
    const [wait, open] = gate(far, 'go');
    await enqueue(near, 'a', `seq 1 9000; ${wait}`);
    await until(async () => (await far.run(['logs', 'a'])).stdout.endsWith('\n9000\n'), 'it has written');
    const refusal = { code: 4, stdout: '' };
    const running = await near.run(['logs', 'a']);
    expect(running).toMatchObject(refusal);
    expect(running.stderr).toStartWith('error: the output of attempt 1 is on the host far\n');
    open();
    await untilState(near, 'a', 'completed');
    expect(await near.run(['logs', 'a'])).toMatchObject(refusal);
    expect(await storedParts(near)).toEqual({ parts: 0, bytes: 0 });
    await enqueue(near, 'short', 'echo short');
    expect((await near.run(['logs', '-f', 'short'])).stdout).toBe('short\n');
  }),
);

test('a queue in a file has no shared output', async (box) => {
  await box.startWorkers();
  await enqueue(box, 'a', 'seq 1 9000');
  await untilState(box, 'a', 'completed');
  expect(await attemptOf(box, 'a')).toMatchObject({ output_host: null, output_file: null });
  expect((await box.run(['logs', '-n', '1', 'a'])).stdout).toBe('9000\n');
});
