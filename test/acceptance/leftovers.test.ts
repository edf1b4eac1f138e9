import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { placeNames } from '../support/places.ts';
import { killAll, workersOf } from '../support/processes.ts';
import { configure, enqueue, inSandbox, type Sandbox, until, untilState } from '../support/queuectl.ts';

async function leftovers(box: Sandbox): Promise<{ status: string; says: string }> {
  const { stdout } = await box.run(['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: { check: string; status: string; says: string }[] };
  return checks.find((one) => one.check === 'leftovers')!;
}

const drafts = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.includes('.draft'));
const drain = (box: Sandbox) => box.run(['worker', 'start', '--drain', '--quiet']);
const stateOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]![0]!;
const OK = { status: 'ok', says: 'none' };

for (const next of ['backup', 'worker start'] as const) {
  test.concurrent(
    `doctor reports the draft of a killed backup, and the next ${next} removes it`,
    inSandbox(async (box) => {
      await enqueue(box, 'job', 'true');
      const file = join(box.home, 'backup.db');
      await box.run(['backup', file], { env: { QUEUECTL_CRASH_AT: 'after-renew' } });
      const [draft] = drafts(box.home);
      expect(await leftovers(box)).toMatchObject({
        status: 'warn',
        says: expect.stringMatching(new RegExp(`left files behind \\(\\d+ KiB\\): .*/${draft}$`)),
      });
      expect((next === 'backup' ? await box.run(['backup', file]) : await drain(box)).code).toBe(0);
      expect(drafts(box.home)).toEqual([]);
      expect(await leftovers(box)).toMatchObject(OK);
    }),
  );
}

test.concurrent(
  'the draft of a running backup and files with a similar name are left alone',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true');
    const first = box.start(['backup', join(box.home, 'first.db')], {
      env: { QUEUECTL_CRASH_AT: 'after-renew:1:stop' },
    });
    await until(() => stateOf(first.pid) === 'T', 'the process is stopped at its crash point');
    writeFileSync(join(box.home, '.queuectl-mine.draft'), '');
    expect(await leftovers(box)).toMatchObject(OK);
    await box.json(['backup', join(box.home, 'second.db')]);
    expect((await drain(box)).code).toBe(0);
    expect(drafts(box.home)).toHaveLength(2);
    first.child.kill('SIGCONT');
    expect(await first.exit).toBe(0);
    expect(drafts(box.home)).toEqual(['.queuectl-mine.draft']);
  }),
);

test.concurrent(
  'doctor reports an unfinished ballast file of a dead process, and a worker removes it',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true');
    const ballast = `ballast.${spawnSync('true').pid}`;
    writeFileSync(join(box.home, 'queue.db.d', ballast), Buffer.alloc(1000));
    expect((await leftovers(box)).says).toContain(ballast);
    expect((await drain(box)).code).toBe(0);
    expect(await leftovers(box)).toMatchObject(OK);
  }),
);

test.concurrent(
  'doctor reports trimmed output that a killed worker left unfinished, and a worker removes it',
  inSandbox(async (box) => {
    await configure(box, { 'output-limit': '64K' });
    await enqueue(box, 'loud', 'seq 300000');
    const attempts = join(box.home, 'queue.db.d', 'attempts');
    const unfinished = (): string[] =>
      (readdirSync(attempts, { recursive: true }) as string[]).filter((name) => /\/out\.\d+$/.test(name));
    const workers = box.start(['worker', 'start'], { env: { QUEUECTL_CRASH_AT: 'before-short:1:stop' } });
    await until(() => unfinished().length > 0, 'an unfinished file exists');
    const worker = (await workersOf(box))[0]!.pid;
    await until(() => stateOf(worker) === 'T', 'the process is stopped at its crash point');
    await killAll([workers.pid, worker]);
    expect((await leftovers(box)).says).toContain(unfinished()[0]!);
    await box.startWorkers();
    await untilState(box, 'loud', 'completed');
    expect(unfinished()).toEqual([]);
    expect(await leftovers(box)).toMatchObject(OK);
  }),
);

test.concurrent(
  'the store that a killed restore had not renamed yet is reported, and a worker renames it',
  inSandbox(async (box) => {
    await enqueue(box, 'a', 'true');
    const file = join(box.directory, 'backup.db');
    await box.json(['backup', file]);
    await enqueue(box, 'b', 'true');
    await box.run(['restore', '--yes', file], { env: { QUEUECTL_CRASH_AT: 'swap-replaced' } });
    expect((await leftovers(box)).says).toContain('.queue.db.before-');
    expect((await drain(box)).code).toBe(0);
    expect(await leftovers(box)).toMatchObject(OK);
    const [kept] = readdirSync(box.home).filter((name) => /^queue\.db\.before-\w+$/.test(name));
    expect(await box.json<unknown[]>(['list', '--db', join(box.home, kept!)])).toHaveLength(2);
  }),
);

test.concurrent(
  'output that a killed restore copied is removed, and output of a kept store stays',
  inSandbox(async (box) => {
    await configure(box, { 'output-limit': '1M' });
    await enqueue(box, 'loud', 'seq 100000');
    expect((await drain(box)).code).toBe(0);
    const file = join(box.directory, 'backup.db');
    await box.json(['backup', '--with-output', file]);
    const before = placeNames(box);
    expect(before).toHaveLength(1);
    const killed = async (point: string): Promise<string> => {
      const had = placeNames(box);
      await box.run(['restore', '--yes', file], { env: { QUEUECTL_CRASH_AT: point } });
      return placeNames(box).find((name) => !had.includes(name))!;
    };
    // A restore that is killed after the swap has put its copied output into use. Only the third restore leaves
    // output that no store uses.
    const restored = await killed('swap-kept');
    const used = await killed('swap-kept');
    const copied = await killed('swap-taken');
    expect(await leftovers(box)).toMatchObject({
      status: 'warn',
      says: expect.stringMatching(new RegExp(`left files behind \\(\\d+ KiB\\): .*/${copied}$`)),
    });
    expect((await drain(box)).code).toBe(0);
    expect(placeNames(box).sort()).toEqual([...before, restored, used].sort());
    expect(await leftovers(box)).toMatchObject(OK);
  }),
);

test.concurrent(
  'the output of a restored queue stays while another database has its name',
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
  'a restore that fails at the end removes its copied output, and a running restore is left alone',
  inSandbox(async (box) => {
    await enqueue(box, 'loud', 'seq 20000');
    expect((await drain(box)).code).toBe(0);
    const file = join(box.directory, 'backup.db');
    await box.json(['backup', '--with-output', file]);
    const state = (): string[] =>
      (readdirSync(join(box.home, 'queue.db.d'), { recursive: true }) as string[])
        .filter((name) => /^restoring-|^attempts\//.test(name))
        .sort();
    const before = state();
    const failed = await box.run(['restore', '--yes', file], {
      env: { QUEUECTL_CRASH_AT: 'swap-taken:1:throw' },
    });
    expect(failed.code).not.toBe(0);
    expect(state()).toEqual(before);
    const first = box.start(['restore', '--yes', file], {
      env: { QUEUECTL_CRASH_AT: 'after-keep-output:1:stop' },
    });
    await until(() => stateOf(first.pid) === 'T', 'the process is stopped at its crash point');
    expect(await leftovers(box)).toMatchObject(OK);
    expect(state().length).toBeGreaterThan(before.length);
    first.child.kill('SIGCONT');
    expect(await first.exit).toBe(0);
    expect(state().some((name) => name.startsWith('restoring-'))).toBe(false);
  }),
);
