import { expect } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killAll, workersOf } from '../support/processes.ts';
import { configure, enqueue, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** Returns the result of doctor's check for files that killed commands left behind. */
async function leftoversCheck(box: Sandbox): Promise<{ status: string; says: string }> {
  const { stdout } = await box.run(['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: { check: string; status: string; says: string }[] };
  return checks.find(({ check }) => check === 'leftovers')!;
}

const draftsIn = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.includes('.draft'));
const drain = (box: Sandbox) => box.run(['worker', 'start', '--drain', '--quiet']);
const processState = (pid: number): string => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]![0]!;
const NO_LEFTOVERS = { status: 'ok', says: 'none' };

for (const next of ['backup', 'worker start'] as const) {
  test(`doctor reports the draft of a killed backup, and the next ${next} removes it`, async (box) => {
    await enqueue(box, 'job', 'true');
    const file = join(box.home, 'backup.db');
    await box.run(['backup', file], { env: { QUEUECTL_CRASH_AT: 'after-renew' } });
    const [draft] = draftsIn(box.home);
    expect(await leftoversCheck(box)).toMatchObject({
      status: 'warn',
      says: expect.stringMatching(new RegExp(`left files behind \\(\\d+ KiB\\): .*/${draft}$`)),
    });
    expect((next === 'backup' ? await box.run(['backup', file]) : await drain(box)).code).toBe(0);
    expect(draftsIn(box.home)).toEqual([]);
    expect(await leftoversCheck(box)).toMatchObject(NO_LEFTOVERS);
  });
}

test('the draft of a running backup and files with a similar name are left alone', async (box) => {
  await enqueue(box, 'job', 'true');
  const running = box.start(['backup', join(box.home, 'first.db')], {
    env: { QUEUECTL_CRASH_AT: 'after-renew:1:stop' },
  });
  await until(() => processState(running.pid) === 'T', 'the process is stopped at its crash point');
  writeFileSync(join(box.home, '.queuectl-mine.draft'), '');
  expect(await leftoversCheck(box)).toMatchObject(NO_LEFTOVERS);
  await box.json(['backup', join(box.home, 'second.db')]);
  expect((await drain(box)).code).toBe(0);
  expect(draftsIn(box.home)).toHaveLength(2);
  running.child.kill('SIGCONT');
  expect(await running.exit).toBe(0);
  expect(draftsIn(box.home)).toEqual(['.queuectl-mine.draft']);
});

test('doctor reports an unfinished ballast file of a dead process, and a worker removes it', async (box) => {
  await enqueue(box, 'job', 'true');
  const ballast = `ballast.${spawnSync('true').pid}`;
  writeFileSync(join(box.stateDirectory(), ballast), Buffer.alloc(1000));
  expect((await leftoversCheck(box)).says).toContain(ballast);
  expect((await drain(box)).code).toBe(0);
  expect(await leftoversCheck(box)).toMatchObject(NO_LEFTOVERS);
});

for (const next of [
  ['serve', '--port', '0'],
  ['worker', 'start'],
])
  test(`the page with a token that a killed server left is reported by doctor and removed by the next ${next[0]}`, async (box) => {
    await enqueue(box, 'job', 'true');
    const page = `open-${spawnSync('true').pid}.html`;
    writeFileSync(join(box.stateDirectory(), page), 'token');
    writeFileSync(join(box.stateDirectory(), `open-${process.pid}.html`), 'of a running server');
    expect((await leftoversCheck(box)).says).toContain(page);
    box.start(next);
    await until(() => !readdirSync(box.stateDirectory()).includes(page), 'the page is removed');
    expect(readdirSync(box.stateDirectory())).toContain(`open-${process.pid}.html`);
  });

test('doctor reports trimmed output that a killed worker left unfinished, and the next worker removes it', async (box) => {
  await configure(box, { 'output-limit': '64K' });
  await enqueue(box, 'loud', 'seq 300000');
  const attempts = join(box.stateDirectory(), 'attempts');
  const unfinishedFiles = (): string[] => readdirSync(attempts).filter((name) => /\.out\.\d+$/.test(name));
  const workers = box.start(['worker', 'start'], { env: { QUEUECTL_CRASH_AT: 'before-short:1:stop' } });
  await until(() => unfinishedFiles().length > 0, 'an unfinished file exists');
  const worker = (await workersOf(box))[0]!.pid;
  await until(() => processState(worker) === 'T', 'the process is stopped at its crash point');
  await killAll([workers.pid, worker]);
  expect((await leftoversCheck(box)).says).toContain(unfinishedFiles()[0]!);
  await box.startWorkers();
  await untilState(box, 'loud', 'completed');
  expect(unfinishedFiles()).toEqual([]);
  expect(await leftoversCheck(box)).toMatchObject(NO_LEFTOVERS);
});

test('the output of a restored store is kept while another database has its file name', async (box) => {
  await enqueue(box, 'loud', 'seq 20000');
  expect((await drain(box)).code).toBe(0);
  const output = (await box.run(['logs', 'loud'])).stdout;
  const [db, mine] = [join(box.home, 'queue.db'), join(box.home, 'mine.db')];
  const file = join(box.directory, 'backup.db');
  await box.json(['backup', '--with-output', file]);
  await box.json(['restore', '--yes', file]);
  renameSync(db, mine);
  const attempts = join(`${db}.d`, 'attempts');
  for (const name of readdirSync(attempts)) utimesSync(join(attempts, name), 1, 1);
  await enqueue(box, 'other', 'true');
  expect((await drain(box)).code).toBe(0);
  rmSync(db);
  renameSync(mine, db);
  expect((await box.run(['logs', 'loud'])).stdout).toBe(output);
});

test('a failed restore removes the output it copied, and doctor ignores the files of a running restore', async (box) => {
  await enqueue(box, 'loud', 'seq 20000');
  expect((await drain(box)).code).toBe(0);
  const file = join(box.directory, 'backup.db');
  await box.json(['backup', '--with-output', file]);
  const outputFiles = (): string[] =>
    (readdirSync(box.stateDirectory(), { recursive: true }) as string[])
      .filter((name) => name.startsWith('attempts/'))
      .sort();
  const before = outputFiles();
  const failed = await box.run(['restore', '--yes', file], {
    env: { QUEUECTL_CRASH_AT: 'swap-held:1:throw' },
  });
  expect(failed.code).not.toBe(0);
  expect(outputFiles()).toEqual(before);
  const running = box.start(['restore', '--yes', file], {
    env: { QUEUECTL_CRASH_AT: 'after-keep-output:1:stop' },
  });
  await until(() => processState(running.pid) === 'T', 'the process is stopped at its crash point');
  expect(await leftoversCheck(box)).toMatchObject(NO_LEFTOVERS);
  expect(outputFiles().length).toBeGreaterThan(before.length);
  running.child.kill('SIGCONT');
  expect(await running.exit).toBe(0);
});
