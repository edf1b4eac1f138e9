import { expect, test } from 'bun:test';
import { enqueue, inSandbox, type Sandbox, until } from '../support/queuectl.ts';
import { onTerminal } from '../support/terminal.ts';

/** Expects that a command that waits for a job of queue gpu prints `what` once, and ends when the queue is resumed. */
async function expectOneWarning(box: Sandbox, args: string[], what: string): Promise<void> {
  const running = box.start(args);
  await until(() => running.output().includes(what), `${args[0]} says: ${what}`);
  await box.run(['queue', 'resume', 'gpu']);
  expect(await running.closed).toBe(0);
  expect(running.output().split(what)).toHaveLength(2);
  await box.run(['queue', 'pause', 'gpu']);
}

test.concurrent(
  'commands that wait for a job of a paused queue warn once',
  inSandbox(async (box) => {
    await box.startWorkers();
    await box.run(['queue', 'set', 'gpu', '--concurrency', '1']);
    await box.run(['queue', 'pause', 'gpu']);
    const paused = 'warning: queue gpu was paused at ';
    await enqueue(box, 'a', 'true', { queue: 'gpu' });
    await expectOneWarning(box, ['wait', 'a'], paused);
    await enqueue(box, 'b', 'true', { queue: 'gpu' });
    await expectOneWarning(box, ['logs', '-f', 'b'], paused);
    await expectOneWarning(box, ['run', '--queue', 'gpu', 'true'], paused);
    await expectOneWarning(box, ['enqueue', '--wait', '--queue', 'gpu', 'true'], paused);
  }),
);

test.concurrent(
  'a queue without a worker is reported with a command to start one, also by enqueue',
  inSandbox(async (box) => {
    await box.startWorkers('--queue', 'mail');
    const hint = 'no worker serves queue gpu; to start one: queuectl worker start --queue gpu';
    const shown = onTerminal(box, ['enqueue', '--id', 'job', '--queue', 'gpu', 'true'], 24, 120);
    expect(await shown.closed).toBe(0);
    expect(shown.output()).toContain(`note: ${hint}`);
    expect((await box.run(['explain', 'job'])).stdout).toBe(`${hint}\n`);
    expect((await box.run(['wait', 'job', '--timeout', '1ms'])).stderr).toContain(`warning: ${hint}`);
  }),
);

test.concurrent(
  'an attempt that could not start has its reason printed, also in a pipe',
  inSandbox(async (box) => {
    await box.startWorkers();
    const why = "secret variable NOBODY_HAS_THIS is not in the worker's environment";
    const job = ['--secret-env', 'NOBODY_HAS_THIS', '--max-retries', '1', 'true'];
    for (const verb of [['run'], ['enqueue', '--follow'], ['enqueue', '--wait']]) {
      const { code, stderr } = await box.run([...verb, ...job]);
      expect({ verb, code, stderr }).toEqual({ verb, code: 125, stderr: expect.stringContaining(why) });
    }
  }),
);

test.concurrent(
  'logs of a job that was cancelled before it ran ends at once and reports it',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true');
    await box.run(['cancel', 'job']);
    for (const args of [
      ['logs', 'job'],
      ['logs', '-f', 'job'],
    ]) {
      const shown = onTerminal(box, args, 24, 120);
      expect(await shown.closed).toBe(0);
      expect(shown.output()).toContain(
        "note: job 'job' did not run: it is cancelled (cancelled before it ran)",
      );
      expect(await box.run(args)).toEqual({ code: 0, stdout: '', stderr: '' });
    }
  }),
);

test.concurrent(
  'an unknown queue is not paused or resumed, and a new queue is reported as new',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true', { queue: 'mail' });
    for (const verb of ['pause', 'resume']) {
      const { code, stderr } = await box.run(['queue', verb, 'mial']);
      expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining("did you mean 'mail'?") });
    }
    expect(await box.json(['queue', 'list'])).toHaveLength(1);
    const created = onTerminal(box, ['queue', 'set', 'mial', '--concurrency', '2'], 24, 120);
    await created.closed;
    expect(created.output()).toContain('note: queue mial did not exist; creating it');
    const known = onTerminal(box, ['queue', 'set', 'mail', '--concurrency', '2'], 24, 120);
    await known.closed;
    expect(known.output()).not.toContain('new');
  }),
);

test.concurrent(
  'a queue is deleted when it has no jobs and no schedule uses it',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true', { queue: 'mail' });
    await box.run(['queue', 'set', 'mial', '--concurrency', '2']);
    await box.run(['schedule', 'add', 'nightly', '--cron', '@daily', '--queue', 'backup', 'true']);
    await box.run(['queue', 'set', 'backup', '--concurrency', '2']);
    expect(await box.run(['queue', 'delete', 'mial'])).toEqual({ code: 0, stdout: 'mial\n', stderr: '' });
    expect((await box.run(['queue', 'delete', 'mial'])).code).toBe(3);
    for (const name of ['mail', 'backup']) expect((await box.run(['queue', 'delete', name])).code).toBe(4);
    const remaining = await box.json<{ name: string }[]>(['queue', 'list']);
    expect(remaining.map((queue) => queue.name)).toEqual(['backup', 'mail']);
  }),
);
