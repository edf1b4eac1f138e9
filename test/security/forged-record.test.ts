import { expect } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ONE_RUN } from '../support/gated-job.ts';
import { killAll, processesOfJob, untilHeartbeats, untilWorkerOf, workersOf } from '../support/processes.ts';
import { configure, enqueue, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { backupPathOf, dbPathOf } from '../support/replaced-store.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** Forged records, each with the shell command that prints it. The first field of a record is a pid. */
const FORGED: [content: string, printRecord: string][] = [
  ['its own end', "printf '%-10s 0    \\n' $PPID"],
  ['the end of a process that does not exist', "printf '%-10s 0    \\n' 4194303"],
  ['that it never started', "printf '%-10s gate \\n' 0"],
];

/** Returns a command that overwrites its own record and continues until the test releases it. */
function forgingCommand(printRecord: string): string {
  // The shell that runs the command is a child of the frame or of a subshell that the frame forked.
  const find = `for p in $PPID $(cut -d' ' -f4 /proc/$PPID/stat); do tr '\\0' '\\n' </proc/$p/cmdline; done | grep '[.]rec$' | head -n 1`;
  const write = `record=$(${find}); ${printRecord} 1<>"$record"; echo start >>log`;
  return `${write}; until [ -e go ]; do sleep 0.05; done; echo end >>log; exit 3`;
}

async function startForging(
  box: Sandbox,
  printRecord: string,
  fields: Record<string, unknown> = {},
): Promise<void> {
  await enqueue(box, 'job', forgingCommand(printRecord), { max_retries: 1, ...fields });
  await until(() => logLines(box).includes('start'), 'it has started');
}

const logLines = (box: Sandbox): string[] => lines(join(box.directory, 'log'));
const release = (box: Sandbox): void => writeFileSync(join(box.directory, 'go'), '');

for (const [content, printRecord] of FORGED) {
  test(`a worker that adopts a job waits for a command that records ${content}`, async (box) => {
    await configure(box, { 'heartbeat-interval': '100ms', lease: '1s' });
    const first = await box.startWorkers();
    await startForging(box, printRecord);
    await box.run(['worker', 'stop', '--leave']);
    await first.exit;
    await box.startWorkers();
    await untilHeartbeats(box, 3);
    expect(await box.json(['show', 'job'])).toMatchObject({ state: 'processing' });
    release(box);
    expect(await untilState(box, 'job', 'dead')).toMatchObject({ attempts: 1, crashes: 0, exit_code: 3 });
    expect(logLines(box)).toEqual(ONE_RUN);
  });

  test(`a cancel ends a command that records ${content}, with and without a worker`, async (box) => {
    await configure(box, { 'kill-grace': '100ms' });
    const workers = await box.startWorkers();
    await startForging(box, printRecord);
    await box.run(['cancel', 'job']);
    await untilState(box, 'job', 'cancelled', 20_000);
    expect(processesOfJob(box, 'job')).toEqual([]);
    await box.run(['delete', 'job']);
    writeFileSync(join(box.directory, 'log'), '');
    await startForging(box, printRecord);
    await box.run(['worker', 'stop', '--leave']);
    await workers.exit;
    await box.run(['cancel', 'job']);
    expect(await box.json(['show', 'job'])).toMatchObject({ state: 'cancelled' });
    expect(processesOfJob(box, 'job')).toEqual([]);
  });
}

const [, OWN_END] = FORGED[0]!;

test('the timeout ends a command that records its own end', async (box) => {
  await configure(box, { 'kill-grace': '100ms' });
  await box.startWorkers();
  await startForging(box, OWN_END, { timeout: '1s' });
  expect(await untilState(box, 'job', 'dead')).toMatchObject({ last_error: 'timed out after 1s' });
  expect(processesOfJob(box, 'job')).toEqual([]);
  expect(logLines(box)).toEqual(['start']);
});

test('a job is not settled while its worker watches a command that records its own end', async (box) => {
  await box.startWorkers();
  await startForging(box, OWN_END);
  const { id } = await untilWorkerOf(box, 'job');
  // Both the watchdog and the heartbeat run every five seconds.
  await untilHeartbeats(box, 2);
  expect((await workersOf(box)).map((one) => [one.id, one.current_jobs])).toEqual([[id, ['job']]]);
  release(box);
  expect(await untilState(box, 'job', 'dead')).toMatchObject({ exit_code: 3 });
});

test('without a store, restore is refused while a command runs that has recorded its own end', async (box) => {
  const workers = await box.startWorkers();
  await startForging(box, OWN_END);
  await box.json(['backup', backupPathOf(box)]);
  await box.run(['worker', 'stop', '--leave']);
  await workers.exit;
  // Now only the files of the attempt show that it runs.
  rmSync(dbPathOf(box));
  const refused = await box.run(['restore', '--yes', backupPathOf(box)]);
  expect(refused.stderr).toContain('is still running');
  await killAll(processesOfJob(box, 'job'));
  expect((await box.run(['restore', '--yes', backupPathOf(box)])).code).toBe(0);
});
