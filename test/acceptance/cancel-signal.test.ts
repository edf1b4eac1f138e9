import { expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lines, type Sandbox, until } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

/** Starts a job that logs each signal to a file, and returns the file's path. A `stubborn` job does not exit on a signal. */
async function startTrappingJob(box: Sandbox, id: string, stubborn = false): Promise<string> {
  const file = join(box.directory, id);
  const trap = (name: string): string =>
    `trap 'echo ${name} >>${file}${stubborn ? '' : '; exit 3'}' ${name}; `;
  const command = `${['INT', 'TERM', 'HUP'].map(trap).join('')}echo ready >>${file}; while :; do sleep 0.1; done`;
  await box.run(['enqueue', '--id', id, command]);
  await until(() => lines(file).includes('ready'), `${id} runs`);
  return file;
}

test('cancel first sends the signal given by name or number, or TERM by default', async (box) => {
  await box.startWorkers('--concurrency', '4');
  for (const [flags, signal] of [
    [[], 'TERM'],
    [['--signal', 'INT'], 'INT'],
    [['--signal=sighup'], 'HUP'],
    [['--signal', '2'], 'INT'],
  ] as const) {
    const id = `job-${flags.join('')}`.replaceAll(/[^\w-]/g, '');
    const file = await startTrappingJob(box, id);
    expect(await box.run(['cancel', id, ...flags])).toMatchObject({ code: 0, stdout: `${id}\n` });
    expect(lines(file)).toEqual(['ready', signal]);
    expect(await box.json(['show', id])).toMatchObject({ state: 'cancelled' });
  }
});

test('a job that does not exit on the signal is killed after kill-grace', async (box) => {
  await box.run(['config', 'set', 'kill-grace', '300ms']);
  await box.startWorkers();
  const file = await startTrappingJob(box, 'stubborn', true);
  expect((await box.run(['cancel', 'stubborn', '--signal', 'INT'])).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe('ready\nINT\n');
  expect(await box.json(['show', 'stubborn'])).toMatchObject({ state: 'cancelled' });
});

test('cancel refuses unknown signals and signals that do not end a job, and accepts INT for a waiting job', async (box) => {
  await box.run(['enqueue', '--id', 'waiting', 'true']);
  for (const signal of ['STOP', 'CONT', '0', 'nonsense', ''])
    expectRefusal(
      await box.run(['cancel', 'waiting', `--signal=${signal}`]),
      2,
      /--signal must be one of TERM, INT/,
    );
  expect(await box.json(['show', 'waiting'])).toMatchObject({ state: 'pending' });
  expect((await box.run(['cancel', 'waiting', '--signal', 'INT'])).code).toBe(0);
});
