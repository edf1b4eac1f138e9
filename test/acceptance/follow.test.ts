import { afterAll, beforeAll, describe, expect, test as plainTest } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configure, enqueue, type JobJson, sandbox, until, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { interruptUntilClosed, onTerminal } from '../support/terminal.ts';

const GAP_MARKER = /\n\[queuectl: (\d+) bytes of output dropped here\]\n/;
const box = sandbox();

beforeAll(async () => {
  await configure(box, { 'backoff-base': '1', 'output-limit': '64K' });
  await box.startWorkers('--count', '2', '--concurrency', '4');
});
afterAll(() => box.cleanup());

/** Creates the file that a command with waitAtGate() waits for. */
function openGate(name: string): void {
  writeFileSync(join(box.directory, name), '');
}
const waitAtGate = (name: string): string => `until [ -e ${name} ]; do sleep 0.02; done`;

describe('logs -f', () => {
  test('reports that a job is waiting, then follows it from its first byte to its end', async (ownBox) => {
    await enqueue(ownBox, 'early', 'echo one; until [ -e go ]; do sleep 0.02; done; printf two');
    const following = ownBox.start(['logs', '-f', 'early']);
    await until(() => following.output().includes('no worker is running'), 'the reason is shown');
    expect(following.stdout()).toBe('');
    await ownBox.startWorkers();
    await until(() => following.stdout() === 'one\n', 'the first line is there while the job runs');
    writeFileSync(join(ownBox.directory, 'go'), '');
    expect(await following.closed).toBe(0);
    expect(following.stdout()).toBe('one\ntwo');
  });

  plainTest('continues after failed attempts, and follows a single attempt before it begins', async () => {
    const command = `${waitAtGate('tries')}; echo "attempt $QUEUECTL_ATTEMPT"; exit 3`;
    await enqueue(box, 'tries', command, { max_retries: 3 });
    const allAttempts = box.start(['logs', 'tries', '--follow']);
    const secondAttempt = box.start(['logs', 'tries', '-f', '--attempt', '2']);
    const fourthAttempt = box.start(['logs', 'tries', '-f', '--attempt', '4']);
    openGate('tries');
    expect(await allAttempts.closed).toBe(0);
    expect(allAttempts.stdout()).toBe('attempt 1\nattempt 2\nattempt 3\n');
    expect(await secondAttempt.closed).toBe(0);
    expect(secondAttempt.stdout()).toBe('attempt 2\n');
    expect(await fourthAttempt.closed).toBe(3);
    expect(fourthAttempt.output()).toContain('no attempt 4, only attempts 1 to 3');
  });

  plainTest('marks output that was dropped before it could be shown', async () => {
    const command = `seq 1 20000; ${waitAtGate('big-1')}; seq 20001 60000; ${waitAtGate('big-2')}; echo end`;
    await enqueue(box, 'big', command);
    const whole = `${Array.from({ length: 60_000 }, (_, i) => `${i + 1}\n`).join('')}end\n`;
    const early = box.start(['logs', '-f', 'big']);
    await until(() => early.stdout().endsWith('\n20000\n'), 'the first part is shown');
    openGate('big-1');
    await until(() => early.stdout().endsWith('\n60000\n'), 'the second part is shown');
    const trimmed = await until(async () => {
      const { stdout } = await box.run(['logs', 'big']);
      return GAP_MARKER.test(stdout) && stdout;
    }, 'the worker has trimmed the file');
    const late = box.start(['logs', '-f', 'big']);
    await until(() => late.stdout().endsWith('\n60000\n'), 'the late command has shown the kept output');
    expect(late.stdout()).toBe(trimmed);
    openGate('big-2');
    expect([await early.closed, await late.closed]).toEqual([0, 0]);
    for (const { stdout } of [early, late]) {
      const [head, dropped, tail] = stdout().split(GAP_MARKER) as [string, string?, string?];
      expect(whole.startsWith(head)).toBe(true);
      expect(whole.endsWith(tail ?? head)).toBe(true);
      expect(head.length + Number(dropped ?? 0) + (tail ?? '').length).toBe(whole.length);
    }
  });

  plainTest('shows the last lines with -n, and then everything new', async () => {
    await enqueue(box, 'lines', `seq 1 100; ${waitAtGate('lines')}; echo new`);
    await until(
      async () => (await box.run(['logs', 'lines'])).stdout.endsWith('\n100\n'),
      'the job has written its lines',
    );
    expect((await box.run(['logs', '-n', '2', 'lines'])).stdout).toBe('99\n100\n');
    const lastTwo = box.start(['logs', '-f', '-n', '2', 'lines']);
    const onlyNew = box.start(['logs', '-f', '--lines', '0', 'lines']);
    await until(() => lastTwo.stdout() === '99\n100\n', 'the last two lines are shown');
    openGate('lines');
    expect([await lastTwo.closed, lastTwo.stdout()]).toEqual([0, '99\n100\nnew\n']);
    expect(await onlyNew.closed).toBe(0);
    // If the job had already ended when the command started, nothing was new.
    expect(['', 'new\n']).toContain(onlyNew.stdout());
    expect((await box.run(['logs', '-f', '-n', '1', 'lines'])).stdout).toBe('new\n');
  });

  plainTest('prints the output as JSON in whole characters with --json, and then the job', async () => {
    await enqueue(box, 'json', `printf 'a\\303'; ${waitAtGate('json')}; printf '\\274\\n'`);
    const following = box.start(['logs', '-f', 'json', '--json']);
    await until(() => following.stdout().includes('"a"'), 'the first piece is there');
    openGate('json');
    expect(await following.closed).toBe(0);
    const objects = following
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(objects.slice(0, -1)).toEqual([
      { id: 'json', attempt: 1, output: 'a' },
      { id: 'json', attempt: 1, output: 'ü\n' },
    ]);
    expect(objects.at(-1)).toMatchObject({ id: 'json', state: 'completed' });
  });

  plainTest('refuses an unknown job and an invalid number of lines', async () => {
    expect((await box.run(['logs', '-f', 'nobody'])).code).toBe(3);
    expect((await box.run(['logs', '-n', 'x', 'lines'])).code).toBe(2);
    expect((await box.run(['logs', '-n', '-1', 'lines'])).code).toBe(2);
  });
});

plainTest(
  'run neither loses nor repeats output that is moved into the store at the end of the attempt',
  async () => {
    const runs = Array.from({ length: 24 }, (_, i) => {
      const last = [4, 2000, 9000][i % 3]!;
      return { last, running: box.start(['run', `seq 1 ${last / 2}; seq ${last / 2 + 1} ${last}`]) };
    });
    for (const { last, running } of runs) {
      expect(await running.closed).toBe(0);
      const whole = Array.from({ length: last }, (_, i) => `${i + 1}\n`).join('');
      expect(running.stdout() === whole).toBe(true);
    }
  },
);

describe('on a terminal', () => {
  const commandWithEscapes = `printf '\\033]0;title\\007\\033[31mred\\r\\nok\\tfine\\r'; ${waitAtGate('nasty')}; printf '\\ndone'`;

  plainTest('escape sequences in job output have no effect unless --raw is given', async () => {
    await enqueue(box, 'nasty', commandWithEscapes);
    const safe = onTerminal(box, ['logs', '-f', 'nasty']);
    const raw = onTerminal(box, ['logs', '-f', '--raw', 'nasty']);
    await until(
      () => safe.stdout().includes('fine') && raw.stdout().includes('fine'),
      'both show the output',
    );
    openGate('nasty');
    expect([await safe.closed, await raw.closed]).toEqual([0, 0]);
    expect(safe.stdout()).not.toContain('\x1b');
    // The terminal turns each newline into a carriage return and a newline.
    expect(safe.stdout()).toStartWith('\\x1b]0;title\\x07red\r\r\nok\tfine\r\r\ndone\r\n');
    expect(raw.stdout()).toContain('\x1b]0;title\x07\x1b[31mred');
  });

  plainTest('Ctrl-C ends logs -f and wait, but not the job', async () => {
    for (const [id, args] of [
      ['left-1', ['logs', '-f', 'left-1']],
      ['left-2', ['wait', 'left-2']],
    ] as const) {
      await enqueue(box, id, `echo begun; ${waitAtGate(id)}`);
      await untilState(box, id, 'processing');
      const terminal = onTerminal(box, [...args]);
      if (args[0] === 'logs') await until(() => terminal.stdout().includes('begun'), 'the output is shown');
      expect(await interruptUntilClosed(terminal)).toBe(130);
      expect((await box.json<JobJson>(['show', id])).state).toBe('processing');
      openGate(id);
      await untilState(box, id, 'completed');
    }
  });

  plainTest('after Ctrl-C logs -f prints how to follow the job again', async () => {
    await enqueue(box, 'told', `echo begun; ${waitAtGate('told')}`);
    const terminal = onTerminal(box, ['logs', '-f', 'told']);
    await until(() => terminal.stdout().includes('begun'), 'the output is shown');
    terminal.interrupt();
    expect(await terminal.closed).toBe(130);
    expect(terminal.stdout()).toContain('job told keeps running; to follow it: queuectl logs -f told\r\n');
    openGate('told');
  });
});
