import { expect } from 'bun:test';
import { enqueue, type Sandbox, until } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

/** Expects that a command prints `warning` once and exits when queue gpu is resumed. Then pauses the queue again. */
async function expectOneWarning(box: Sandbox, args: string[], warning: string): Promise<void> {
  const running = box.start(args);
  await until(() => running.output().includes(warning), `${args[0]} prints ${warning}`);
  await box.run(['queue', 'resume', 'gpu']);
  expect(await running.closed).toBe(0);
  expect(running.output().split(warning)).toHaveLength(2);
  await box.run(['queue', 'pause', 'gpu']);
}

test('commands that wait for a job of a paused queue warn once', async (box) => {
  await box.startWorkers();
  await box.run(['queue', 'set', 'gpu', '--concurrency', '1']);
  await box.run(['queue', 'pause', 'gpu']);
  const warning = 'warning: queue gpu was paused at ';
  await enqueue(box, 'a', 'true', { queue: 'gpu' });
  await expectOneWarning(box, ['wait', 'a'], warning);
  await enqueue(box, 'b', 'true', { queue: 'gpu' });
  await expectOneWarning(box, ['logs', '-f', 'b'], warning);
  await expectOneWarning(box, ['run', '--queue', 'gpu', 'true'], warning);
  await expectOneWarning(box, ['enqueue', '--wait', '--queue', 'gpu', 'true'], warning);
});

test('enqueue, explain and wait print that no worker serves a queue, with a command to start one', async (box) => {
  await box.startWorkers('--queue', 'mail');
  const hint = 'no worker serves queue gpu; to start one: queuectl worker start --queue gpu';
  const shown = onTerminal(box, ['enqueue', '--id', 'job', '--queue', 'gpu', 'true'], 24, 120);
  expect(await shown.closed).toBe(0);
  expect(shown.output()).toContain(`note: ${hint}`);
  expect((await box.run(['explain', 'job'])).stdout).toBe(`${hint}\n`);
  expect((await box.run(['wait', 'job', '--timeout', '1ms'])).stderr).toContain(`warning: ${hint}`);
});

test('run and enqueue print in a pipe why an attempt could not start', async (box) => {
  await box.startWorkers();
  const why = "secret variable NOBODY_HAS_THIS is not in the worker's environment";
  const job = ['--secret-env', 'NOBODY_HAS_THIS', '--max-retries', '1', 'true'];
  for (const verb of [['run'], ['enqueue', '--follow'], ['enqueue', '--wait']]) {
    const { code, stderr } = await box.run([...verb, ...job]);
    expect({ verb, code, stderr }).toEqual({ verb, code: 125, stderr: expect.stringContaining(why) });
  }
});

test('logs reports on a terminal that a job was cancelled before it ran, and does not follow it', async (box) => {
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
});
