import { afterAll, beforeAll, describe, expect, test as plainTest } from 'bun:test';
import { untilNoProcessOf } from '../support/processes.ts';
import { configure, enqueue, type JobJson, lines, sandbox, until, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { interruptUntilClosed, onTerminal } from '../support/terminal.ts';

const box = sandbox();

beforeAll(async () => {
  await configure(box, { 'backoff-base': '1' });
  await box.startWorkers('--concurrency', '4');
});
afterAll(() => box.cleanup());

describe('run', () => {
  plainTest(
    "prints only the output and exits with the job's code, for shell commands, programs and JSON",
    async () => {
      const forms: string[][] = [
        ['echo a; exit 5', '-r', '1'],
        ['-r', '1', '--', 'sh', '-c', 'echo a; exit 5'],
        ['{"command":"echo a; exit 5","max_retries":1}'],
        ['-c', 'echo a; exit 5', '--max-retries', '1', '--priority', 'high'],
      ];
      for (const form of forms)
        expect(await box.run(['run', ...form])).toEqual({ code: 5, stdout: 'a\n', stderr: '' });
    },
  );

  plainTest('follows the retries to the last attempt', async () => {
    const command = 'echo "try $QUEUECTL_ATTEMPT"; [ $QUEUECTL_ATTEMPT = 2 ]';
    expect(await box.run(['run', command])).toMatchObject({ code: 0, stdout: 'try 1\ntry 2\n' });
  });

  plainTest('with --json prints JSON lines, and the last one is the job', async () => {
    const { code, stdout } = await box.run(['run', '--json', '--id', 'json', 'echo a']);
    expect(code).toBe(0);
    const printed = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(printed).toMatchObject([
      { id: 'json', attempt: 1, output: 'a\n' },
      { id: 'json', state: 'completed', exit_code: 0 },
    ]);
  });

  plainTest('exits with 124 after --wait-timeout, and the job continues', async () => {
    const args = ['run', '--id', 'slow', '--wait-timeout', '300ms', 'until [ -e slow ]; do sleep 0.02; done'];
    expect((await box.run(args)).code).toBe(124);
    await box.run([], { through: ['touch', 'slow'] });
    await untilState(box, 'slow', 'completed');
  });

  plainTest('exits with 141 when its reader has gone', async () => {
    const script = '{ "$0" run "echo a; sleep 0.2; seq 1 100000"; echo $? >code; } | head -n 1; cat code';
    const { stdout, stderr } = await box.run([], { through: ['sh', '-c', script] });
    expect({ stdout, stderr }).toEqual({ stdout: 'a\n141\n', stderr: '' });
  });
});

describe('run on a signal', () => {
  plainTest('passes Ctrl-C on to the job, which becomes cancelled', async () => {
    const running = onTerminal(box, ['run', '--id', 'broken', 'echo begun >>broken; echo begun; sleep 60']);
    await until(() => running.stdout().includes('begun'), 'the job runs');
    running.interrupt();
    expect(await running.closed).toBe(130);
    await untilNoProcessOf(box, 'broken');
    await untilState(box, 'broken', 'cancelled');
    expect(lines(`${box.directory}/broken`)).toEqual(['begun']);
  });

  plainTest('exits with the code of a job that handles Ctrl-C', async () => {
    const command = 'trap "echo caught; exit 9" INT; echo begun; while :; do sleep 0.05; done';
    const running = onTerminal(box, ['run', '-r', '1', command]);
    await until(() => running.stdout().includes('begun'), 'the job runs');
    running.interrupt();
    expect(await running.closed).toBe(9);
    expect(running.stdout()).toContain('caught');
  });

  plainTest('leaves a job that ignores Ctrl-C running on the second Ctrl-C', async () => {
    const command = 'trap "" INT; echo begun; until [ -e deaf ]; do sleep 0.05; done';
    const running = onTerminal(box, ['run', '--id', 'deaf', command]);
    await until(() => running.stdout().includes('begun'), 'the job runs');
    expect(await interruptUntilClosed(running)).toBe(130);
    expect(running.stdout()).toContain('job deaf keeps running; to follow it: queuectl logs -f deaf');
    await box.run([], { through: ['touch', 'deaf'] });
    await untilState(box, 'deaf', 'completed');
  });

  plainTest('counts a signal that arrives twice at the same time, as from timeout(1), once', async () => {
    const command = 'trap "echo caught; exit 9" INT; echo begun; while :; do sleep 0.05; done';
    const running = box.start(['run', '-r', '1', command]);
    await until(() => running.stdout().includes('begun'), 'the job runs');
    process.kill(running.pid, 'SIGINT');
    process.kill(-running.pid, 'SIGINT');
    expect(await running.closed).toBe(9);
  });

  plainTest('exits with 143 on SIGTERM', async () => {
    const running = box.start(['run', '-r', '1', 'echo begun; exec sleep 60']);
    await until(() => running.stdout().includes('begun'), 'the job runs');
    process.kill(running.pid, 'SIGTERM');
    expect(await running.closed).toBe(143);
  });

  test('cancels a job that has not started, on SIGINT', async (ownBox) => {
    const running = ownBox.start(['run', '--id', 'waits', 'touch it-ran']);
    await until(() => running.output().includes('no worker is running'), 'run waits for a worker');
    process.kill(running.pid, 'SIGINT');
    expect(await running.closed).toBe(130);
    expect((await ownBox.json<JobJson>(['show', 'waits'])).state).toBe('cancelled');
    await enqueue(ownBox, 'other', 'true');
    expect(await ownBox.start(['worker', 'start', '--drain']).exit).toBe(0);
    expect(await ownBox.json<{ id: string }[]>(['list', '--state', 'completed'])).toMatchObject([
      { id: 'other' },
    ]);
    expect(lines(`${ownBox.directory}/it-ran`)).toEqual([]);
  });
});
