import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { placeNames } from '../support/place.ts';
import { killAll, workersOf } from '../support/processes.ts';
import { configure, enqueue, inSandbox, type Sandbox, until, untilState } from '../support/queuectl.ts';

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
  test.concurrent(
    `doctor reports the draft of a killed backup, and the next ${next} removes it`,
    inSandbox(async (box) => {
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
    }),
  );
}

test.concurrent(
  'the draft of a running backup and files with a similar name are left alone',
  inSandbox(async (box) => {
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
  }),
);

test.concurrent(
  'doctor reports an unfinished ballast file of a dead process, and a worker removes it',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true');
    const ballast = `ballast.${spawnSync('true').pid}`;
    writeFileSync(join(box.stateDirectory(), ballast), Buffer.alloc(1000));
    expect((await leftoversCheck(box)).says).toContain(ballast);
    expect((await drain(box)).code).toBe(0);
    expect(await leftoversCheck(box)).toMatchObject(NO_LEFTOVERS);
  }),
);

test.concurrent(
  'doctor reports trimmed output that a killed worker left unfinished, and the next worker removes it',
  inSandbox(async (box) => {
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
  }),
);

test.concurrent(
  'doctor reports the old store that a killed restore had not renamed yet, and a worker renames it',
  inSandbox(async (box) => {
    await enqueue(box, 'a', 'true');
    const file = join(box.directory, 'backup.db');
    await box.json(['backup', file]);
    await enqueue(box, 'b', 'true');
    await box.run(['restore', '--yes', file], { env: { QUEUECTL_CRASH_AT: 'swap-replaced' } });
    expect((await leftoversCheck(box)).says).toContain('.queue.db.before-');
    expect((await drain(box)).code).toBe(0);
    expect(await leftoversCheck(box)).toMatchObject(NO_LEFTOVERS);
    const [kept] = readdirSync(box.home).filter((name) => /^queue\.db\.before-\w+$/.test(name));
    expect(await box.json<unknown[]>(['list', '--db', join(box.home, kept!)])).toHaveLength(2);
  }),
);

test.concurrent(
  'the output that a killed restore copied is removed only if no store uses it',
  inSandbox(async (box) => {
    await configure(box, { 'output-limit': '1M' });
    await enqueue(box, 'loud', 'seq 100000');
    expect((await drain(box)).code).toBe(0);
    const file = join(box.directory, 'backup.db');
    await box.json(['backup', '--with-output', file]);
    const original = placeNames(box);
    expect(original).toHaveLength(1);
    /** Kills a restore at a crash point and returns the name of the attempt that it copied. */
    const copyOfKilledRestore = async (point: string): Promise<string> => {
      const before = placeNames(box);
      await box.run(['restore', '--yes', file], { env: { QUEUECTL_CRASH_AT: point } });
      return placeNames(box).find((name) => !before.includes(name))!;
    };
    // At swap-kept the restored store is in place and uses the copy. At swap-taken it is not, so no store uses the copy.
    const firstUsed = await copyOfKilledRestore('swap-kept');
    const secondUsed = await copyOfKilledRestore('swap-kept');
    const unused = await copyOfKilledRestore('swap-taken');
    expect(await leftoversCheck(box)).toMatchObject({
      status: 'warn',
      says: expect.stringMatching(new RegExp(`left files behind \\(\\d+ KiB\\): .*/${unused}[.]out$`)),
    });
    expect((await drain(box)).code).toBe(0);
    expect(placeNames(box).sort()).toEqual([...original, firstUsed, secondUsed].sort());
    expect(await leftoversCheck(box)).toMatchObject(NO_LEFTOVERS);
  }),
);

test.concurrent(
  'the output of a restored store is kept while another database has its file name',
  inSandbox(async (box) => {
    await enqueue(box, 'loud', 'seq 20000');
    expect((await drain(box)).code).toBe(0);
    const output = (await box.run(['logs', 'loud'])).stdout;
    const [db, mine] = [join(box.home, 'queue.db'), join(box.home, 'mine.db')];
    const file = join(box.directory, 'backup.db');
    await box.json(['backup', '--with-output', file]);
    await box.json(['restore', '--yes', file]);
    expect(readdirSync(`${db}.d`).filter((name) => name.startsWith('restoring-'))).toEqual([]);
    renameSync(db, mine);
    const attempts = join(`${db}.d`, 'attempts');
    for (const name of readdirSync(attempts)) utimesSync(join(attempts, name), 1, 1);
    await enqueue(box, 'other', 'true');
    expect((await drain(box)).code).toBe(0);
    rmSync(db);
    renameSync(mine, db);
    expect((await box.run(['logs', 'loud'])).stdout).toBe(output);
  }),
);

test.concurrent(
  'a failed restore removes the output it copied, and doctor ignores the files of a running restore',
  inSandbox(async (box) => {
    await enqueue(box, 'loud', 'seq 20000');
    expect((await drain(box)).code).toBe(0);
    const file = join(box.directory, 'backup.db');
    await box.json(['backup', '--with-output', file]);
    const outputFiles = (): string[] =>
      (readdirSync(box.stateDirectory(), { recursive: true }) as string[])
        .filter((name) => /^restoring-|^attempts\//.test(name))
        .sort();
    const before = outputFiles();
    const failed = await box.run(['restore', '--yes', file], {
      env: { QUEUECTL_CRASH_AT: 'swap-taken:1:throw' },
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
    expect(outputFiles().some((name) => name.startsWith('restoring-'))).toBe(false);
  }),
);
