import { expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { hasTool } from '../faults/syscalls.ts';
import { enqueue, inSandbox, type Sandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';

const file = (box: Sandbox, name = 'backup.db'): string => join(box.directory, name);
const storeOf = (box: Sandbox): string => join(box.home, 'queue.db');

async function ids(box: Sandbox, db: string): Promise<string[]> {
  return (await box.json<{ id: string }[]>(['list', '--db', db])).map((job) => job.id).sort();
}

/** Makes a backup and enqueues a job in it. The process is killed, so that the job is only in the backup's WAL. */
async function usedBackup(box: Sandbox): Promise<string> {
  await enqueue(box, 'old', 'true', { delay: 3600 });
  await box.json(['backup', file(box)]);
  await box.run(['enqueue', '--id', 'there', 'true', '--db', file(box)], {
    env: { QUEUECTL_CRASH_AT: 'after-insert' },
  });
  expect(statSync(`${file(box)}-wal`).size).toBeGreaterThan(0);
  for (let i = 0; i < 40; i++) await enqueue(box, `new${i}`, `echo ${'x'.repeat(300)}`, { delay: 3600 });
  return file(box);
}

test.concurrent(
  'a backup that replaces a backup with a WAL contains the new jobs only',
  inSandbox(async (box) => {
    const target = await usedBackup(box);
    await box.json(['backup', '--force', target]);
    expect(readdirSync(box.directory).filter((name) => /-(wal|shm|journal)$/.test(name))).toEqual([]);
    expect(await ids(box, target)).toHaveLength(41);
    await box.json(['restore', '--yes', target]);
    expect(await ids(box, storeOf(box))).toHaveLength(41);
  }),
);

test.concurrent(
  'a backup that is killed before its rename leaves the old backup and its WAL readable',
  inSandbox(async (box) => {
    const target = await usedBackup(box);
    for (const point of ['in-backup', 'cleared-backup']) {
      await box.run(['backup', '--force', target], { env: { QUEUECTL_CRASH_AT: point } });
      expect(await ids(box, target)).toEqual(['old', 'there']);
    }
    await box.json(['backup', '--force', target]);
    expect(await ids(box, target)).toHaveLength(41);
  }),
);

test.concurrent(
  'a WAL without its database is refused like a database, and --force removes it',
  inSandbox(async (box) => {
    const target = await usedBackup(box);
    rmSync(target);
    expectRefusal(await box.run(['backup', target]), 4, /backup\.db-(wal|shm) already exists/);
    expect(existsSync(target)).toBe(false);
    await box.json(['backup', '--force', target]);
    expect(await ids(box, target)).toHaveLength(41);
    expect((await box.run(['db', 'check', '--db', target])).stdout).toBe('ok\n');
  }),
);

test.concurrent(
  'a backup that workers use as their store is not replaced',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true', { delay: 3600 });
    await box.json(['backup', file(box)]);
    await box.startWorkers('--db', file(box));
    expectRefusal(await box.run(['backup', '--force', file(box)]), 2, /is a database that is in use/);
    expectRefusal(
      await box.run(['backup', '--force', `${file(box)}-wal`]),
      2,
      /is a database that is in use/,
    );
    expect(await ids(box, file(box))).toEqual(['job']);
  }),
);

test.concurrent(
  'a backup never replaces a queue, even with --force',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true', { delay: 3600 });
    const other = file(box, 'other.db');
    await box.json(['enqueue', '--id', 'theirs', '--delay', '1h', 'true', '--db', other]);
    expectRefusal(await box.run(['backup', '--force', other]), 2, /other\.db is a queue, not a backup/);
    expect(await ids(box, other)).toEqual(['theirs']);
    for (let i = 0; i < 2; i++) await box.json(['backup', '--force', file(box)]);
    expect(await ids(box, file(box))).toEqual(['job']);
    // The backup replaces the link, and the queue that it pointed to stays.
    symlinkSync(other, file(box, 'link.db'));
    await box.json(['backup', '--force', file(box, 'link.db')]);
    expect(await ids(box, file(box, 'link.db'))).toEqual(['job']);
    expect(await ids(box, other)).toEqual(['theirs']);
  }),
);

test.concurrent(
  "a replaced backup's output files are removed, and nothing else",
  inSandbox(async (box) => {
    await enqueue(box, 'loud', 'seq 10000');
    await box.run(['worker', 'start', '--drain', '--quiet']);
    const output = (await box.run(['logs', 'loud'])).stdout;
    await box.json(['backup', '--with-output', file(box)]);
    const attempts = `${file(box)}.d/attempts`;
    const foreign = '0123456789ab-1';
    mkdirSync(join(attempts, foreign));
    for (let i = 0; i < 3; i++) {
      await box.json(['backup', '--force', '--with-output', file(box)]);
      expect(readdirSync(attempts)).toHaveLength(2);
      expect((await box.run(['logs', 'loud', '--db', file(box)])).stdout).toBe(output);
    }
    await box.json(['backup', '--force', file(box)]);
    expect(readdirSync(attempts)).toEqual([foreign]);
    expect((await box.run(['logs', 'loud'])).stdout).toBe(output);
  }),
);

test.concurrent(
  'a backup is refused at a path that SQLite would treat as a part of another database',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true', { delay: 3600 });
    for (const end of ['wal', 'shm', 'journal'])
      for (const force of [[], ['--force']])
        expectRefusal(
          await box.run(['backup', ...force, file(box, `y.db-${end}`)]),
          2,
          /has the name of a file that belongs to .*y\.db$/,
        );
    expect(readdirSync(box.directory).filter((name) => name.startsWith('y.db'))).toEqual([]);
    await box.json(['export', file(box, 'y.db-wal')]);
  }),
);

test.concurrent(
  'a broken symbolic link as the database is reported as a broken link',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true', { delay: 3600 });
    await box.json(['backup', file(box)]);
    const link = file(box, 'link.db');
    symlinkSync(join('data', 'real.db'), link);
    for (const args of [
      ['restore', file(box)],
      ['enqueue', 'true'],
    ]) {
      const refused = await box.run([...args, '--db', link]);
      expectRefusal(refused, 5, /link\.db is a broken link: .*data\/real\.db does not exist/);
    }
    const real = file(box, 'data/real.db');
    mkdirSync(dirname(real), { mode: 0o700 });
    await box.json(['restore', file(box), '--db', real]);
    expect(await ids(box, link)).toEqual(['job']);
  }),
);

test.concurrent(
  'an export never replaces a database or a part of one',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true', { delay: 3600 });
    const other = file(box, 'other.db');
    await box.json(['backup', other]);
    symlinkSync(storeOf(box), file(box, 'link'));
    const refused: [string, RegExp][] = [
      [storeOf(box), /is a database that is in use/],
      [file(box, 'link'), /is a database that is in use/],
      [`${storeOf(box)}-wal`, /is a database that is in use/],
      [other, /is already a database/],
      [`${other}-wal`, /is already a database/],
      [box.home, /is not a regular file/],
    ];
    for (const workers of [false, true]) {
      if (workers) await box.startWorkers();
      for (const [target, says] of refused)
        expectRefusal(await box.run(['export', '--force', target]), 2, says);
    }
    expect(await ids(box, storeOf(box))).toEqual(['job']);
    expect(await ids(box, other)).toEqual(['job']);
    writeFileSync(file(box, 'lines'), 'old');
    await box.json(['export', '--force', file(box, 'lines')]);
    expect(readFileSync(file(box, 'lines'), 'utf8')).toContain('"queuectl":"export"');
  }),
);

const asRoot = test.skipIf(process.getuid!() !== 0);

asRoot.concurrent(
  'S16: a backup does not write long output into a directory that another user can write',
  inSandbox(async (box) => {
    await enqueue(box, 'loud', 'seq 10000');
    await box.run(['worker', 'start', '--drain', '--quiet']);
    const shared = file(box, 'shared');
    mkdirSync(shared);
    const traps: Record<string, (directory: string) => void> = {
      theirs: (one) => chownSync(one, 65534, 65534),
      open: (one) => chmodSync(join(one, 'attempts'), 0o777),
      linked: (one) => {
        rmSync(one, { recursive: true });
        mkdirSync(`${one}.real`);
        chownSync(`${one}.real`, 65534, 65534);
        symlinkSync(`${one}.real`, one);
      },
    };
    for (const [name, set] of Object.entries(traps)) {
      const target = join(shared, `${name}.db`);
      mkdirSync(join(`${target}.d`, 'attempts'), { recursive: true, mode: 0o755 });
      set(`${target}.d`);
      const before = readdirSync(shared, { recursive: true }).sort();
      const made = await box.run(['backup', '--with-output', target]);
      expectRefusal(made, 6, /belongs to user 65534|other users can write/);
      expect(readdirSync(shared, { recursive: true }).sort()).toEqual(before);
    }
    const target = join(shared, 'good.db');
    expect(await box.json(['backup', '--with-output', target])).toMatchObject({ outputs: 1 });
    expect(statSync(`${target}.d`).mode & 0o777).toBe(0o700);
    expect(await box.json(['backup', '--force', '--with-output', target])).toMatchObject({ outputs: 1 });
  }),
);

const withoutLinks = {
  through: ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'inject=link,linkat:error=EPERM'],
};

test.skipIf(!hasTool('strace')).concurrent(
  'without hard links backup and export still work, and workers refuse to start with that reason',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true', { delay: 3600 });
    expect((await box.run(['backup', file(box)], withoutLinks)).code).toBe(0);
    expect(await ids(box, file(box))).toEqual(['job']);
    expect((await box.run(['export', file(box, 'lines')], withoutLinks)).code).toBe(0);
    expect(readFileSync(file(box, 'lines'), 'utf8')).toContain('"end"');
    for (const verb of ['backup', 'export'])
      expectRefusal(await box.run([verb, file(box)], withoutLinks), 4, /already exists/);
    const started = await box.run(['worker', 'start', '--drain', '--quiet'], withoutLinks);
    expectRefusal(started, 5, /queue\.db\.d is on a file system without hard links/);
    expect(readdirSync(box.directory).filter((name) => name.includes('.draft'))).toEqual([]);
  }),
);
