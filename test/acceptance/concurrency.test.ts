import { expect } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { workersOf } from '../support/processes.ts';
import { type JobJson, lines, type Sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

interface Status {
  jobs: Record<string, number>;
  total: number;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

async function untilCompleted(box: Sandbox, count: number): Promise<void> {
  await until(
    async () => (await box.json<Status>(['status'])).jobs.completed === count,
    `${count} jobs are completed`,
  );
}

test('three worker start commands with ten workers in total run each of 200 jobs once', async (box) => {
  const jobs = range(200).map((i) => ({ id: `job-${i}`, command: 'echo $QUEUECTL_JOB_ID >>ran' }));
  const add = (part: typeof jobs) =>
    box.run(['enqueue', '--file', '-'], { stdin: part.map((job) => JSON.stringify(job)).join('\n') });
  // Half of the jobs are enqueued before the workers start, and half while they run.
  expect((await add(jobs.slice(0, 100))).code).toBe(0);
  const supervisors = await Promise.all(['4', '3', '3'].map((count) => box.startWorkers('--count', count)));
  expect((await workersOf(box)).length).toBe(10);
  expect((await add(jobs.slice(100))).code).toBe(0);
  await untilCompleted(box, 200);

  const ran = lines(join(box.directory, 'ran'));
  expect(ran.length).toBe(200);
  expect(new Set(ran)).toEqual(new Set(jobs.map((job) => job.id)));
  const listed = await box.json<JobJson[]>(['list', '--state', 'completed']);
  expect(listed.length).toBe(200);
  for (const job of listed) expect(job).toMatchObject({ attempts: 1, crashes: 0, exit_code: 0 });

  expect((await box.run(['worker', 'stop'])).stdout).toBe('stopped 10 workers\n');
  for (const supervisor of supervisors) {
    expect(await supervisor.exit).toBe(0);
    expect(supervisor.output()).not.toContain('error');
  }
  expect(lines(join(box.directory, 'ran')).length).toBe(200);
});

test('the jobs of 20 parallel enqueues are all stored and run once while workers run, without a lock error', async (box) => {
  await box.startWorkers('--count', '2');
  const added = await Promise.all(
    range(20).map((i) => box.run(['enqueue', '--id', `job-${i}`, 'echo $QUEUECTL_JOB_ID >>ran'])),
  );
  for (const [i, result] of added.entries())
    expect(result).toEqual({ code: 0, stdout: `job-${i}\n`, stderr: '' });
  await untilCompleted(box, 20);
  expect(lines(join(box.directory, 'ran')).sort()).toEqual(
    range(20)
      .map((i) => `job-${i}`)
      .sort(),
  );
});

test('of 10 parallel enqueues with the same id, one succeeds and the others are refused', async (box) => {
  const added = await Promise.all(range(10).map((i) => box.run(['enqueue', '--id', 'same', `echo ${i}`])));
  expect(added.map((result) => result.code).sort()).toEqual([0, ...Array(9).fill(4)]);
  const job = await box.json<JobJson>(['show', 'same']);
  expect(job.command).toBe(`echo ${added.findIndex((result) => result.code === 0)}`);
});

test('10 commands that start at the same time without a store all succeed', async (box) => {
  for (const round of range(3)) {
    const db = join(box.directory, `new-${round}`, 'queue.db');
    const commands = [
      ...range(6).map((i) => ['enqueue', `echo ${i}`]),
      ...[
        ['status', '-q'],
        ['list', '-q'],
        ['config', 'list', '-q'],
        ['config', 'set', 'max-retries', '5'],
      ],
    ];
    const env = { QUEUECTL_DB: db };
    const results = await Promise.all(commands.map((command) => box.run(command, { env })));
    for (const result of results) expect(result).toMatchObject({ code: 0, stderr: '' });
    expect((await box.json<Status>(['status', '--db', db])).jobs.pending).toBe(6);
    expect((await box.run(['config', 'get', 'max-retries', '--db', db])).stdout).toBe('5\n');
    expect(existsSync(`${db}.d`)).toBe(true);
  }
});
