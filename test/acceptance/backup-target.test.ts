import { expect, test as plainTest } from 'bun:test';
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
import { concurrentTest as test } from '../support/sandbox-test.ts';

const pathIn = (box: Sandbox, name = 'backup.db'): string => join(box.directory, name);
const storePath = (box: Sandbox): string => join(box.home, 'queue.db');

async function jobIds(box: Sandbox, db: string): Promise<string[]> {
  return (await box.json<{ id: string }[]>(['list', '--db', db])).map((job) => job.id).sort();
}

/** Makes a backup and kills an enqueue into it, so that its job is only in the backup's WAL. Then adds 40 jobs to the queue. */
async function makeUsedBackup(box: Sandbox): Promise<string> {
  await enqueue(box, 'old', 'true', { delay: 3600 });
  await box.json(['backup', pathIn(box)]);
  await box.run(['enqueue', '--id', 'there', 'true', '--db', pathIn(box)], {
    env: { QUEUECTL_CRASH_AT: 'after-insert' },
  });
  expect(statSync(`${pathIn(box)}-wal`).size).toBeGreaterThan(0);
  for (let i = 0; i < 40; i++) await enqueue(box, `new${i}`, `echo ${'x'.repeat(300)}`, { delay: 3600 });
  return pathIn(box);
}

test('a backup that replaces a backup with a WAL contains exactly the jobs of the queue', async (box) => {
  const target = await makeUsedBackup(box);
  await box.json(['backup', '--force', target]);
  expect(readdirSync(box.directory).filter((name) => /-(wal|shm|journal)$/.test(name))).toEqual([]);
  expect(await jobIds(box, target)).toHaveLength(41);
  await box.json(['restore', '--yes', target]);
  expect(await jobIds(box, storePath(box))).toHaveLength(41);
});

test('a backup that is killed before its rename leaves the old backup with all its jobs', async (box) => {
  const target = await makeUsedBackup(box);
  for (const point of ['in-backup', 'cleared-backup']) {
    await box.run(['backup', '--force', target], { env: { QUEUECTL_CRASH_AT: point } });
    expect(await jobIds(box, target)).toEqual(['old', 'there']);
  }
  await box.json(['backup', '--force', target]);
  expect(await jobIds(box, target)).toHaveLength(41);
});

test('a backup requires --force if the target has a WAL, even if the target itself does not exist', async (box) => {
  const target = await makeUsedBackup(box);
  rmSync(target);
  expectRefusal(await box.run(['backup', target]), 4, /backup\.db-(wal|shm) already exists/);
  expect(existsSync(target)).toBe(false);
  await box.json(['backup', '--force', target]);
  expect(await jobIds(box, target)).toHaveLength(41);
  expect((await box.run(['db', 'check', '--db', target])).stdout).toBe('ok\n');
});

test('a backup that workers use as their store is not replaced', async (box) => {
  await enqueue(box, 'job', 'true', { delay: 3600 });
  await box.json(['backup', pathIn(box)]);
  await box.startWorkers('--db', pathIn(box));
  expectRefusal(await box.run(['backup', '--force', pathIn(box)]), 2, /is a database that is in use/);
  expectRefusal(
    await box.run(['backup', '--force', `${pathIn(box)}-wal`]),
    2,
    /is a database that is in use/,
  );
  expect(await jobIds(box, pathIn(box))).toEqual(['job']);
});

test('a backup never replaces a queue, even with --force', async (box) => {
  await enqueue(box, 'job', 'true', { delay: 3600 });
  const otherDb = pathIn(box, 'other.db');
  await box.json(['enqueue', '--id', 'theirs', '--delay', '1h', 'true', '--db', otherDb]);
  expectRefusal(await box.run(['backup', '--force', otherDb]), 2, /other\.db is a queue, not a backup/);
  expect(await jobIds(box, otherDb)).toEqual(['theirs']);
  for (let i = 0; i < 2; i++) await box.json(['backup', '--force', pathIn(box)]);
  expect(await jobIds(box, pathIn(box))).toEqual(['job']);
  // The backup replaces the link, and the queue that it pointed to stays.
  symlinkSync(otherDb, pathIn(box, 'link.db'));
  await box.json(['backup', '--force', pathIn(box, 'link.db')]);
  expect(await jobIds(box, pathIn(box, 'link.db'))).toEqual(['job']);
  expect(await jobIds(box, otherDb)).toEqual(['theirs']);
});

test('the output files of a replaced backup are removed, and those of other stores are kept', async (box) => {
  await enqueue(box, 'loud', 'seq 10000');
  await box.run(['worker', 'start', '--drain', '--quiet']);
  const output = (await box.run(['logs', 'loud'])).stdout;
  await box.json(['backup', '--with-output', pathIn(box)]);
  const attemptsDirectory = `${pathIn(box)}.d/attempts`;
  const foreign = '0123456789ab-1.out';
  writeFileSync(join(attemptsDirectory, foreign), '');
  for (let i = 0; i < 3; i++) {
    await box.json(['backup', '--force', '--with-output', pathIn(box)]);
    expect(readdirSync(attemptsDirectory)).toHaveLength(2);
    expect((await box.run(['logs', 'loud', '--db', pathIn(box)])).stdout).toBe(output);
  }
  await box.json(['backup', '--force', pathIn(box)]);
  expect(readdirSync(attemptsDirectory)).toEqual([foreign]);
  expect((await box.run(['logs', 'loud'])).stdout).toBe(output);
});

test('a backup is refused at a path that SQLite would treat as a part of another database, but an export is not', async (box) => {
  await enqueue(box, 'job', 'true', { delay: 3600 });
  for (const suffix of ['wal', 'shm', 'journal'])
    for (const force of [[], ['--force']])
      expectRefusal(
        await box.run(['backup', ...force, pathIn(box, `y.db-${suffix}`)]),
        2,
        /has the name of a file that belongs to .*y\.db$/,
      );
  expect(readdirSync(box.directory).filter((name) => name.startsWith('y.db'))).toEqual([]);
  await box.json(['export', pathIn(box, 'y.db-wal')]);
});

test('a broken symbolic link as the database is refused until its target exists', async (box) => {
  await enqueue(box, 'job', 'true', { delay: 3600 });
  await box.json(['backup', pathIn(box)]);
  const link = pathIn(box, 'link.db');
  symlinkSync(join('data', 'real.db'), link);
  for (const args of [
    ['restore', pathIn(box)],
    ['enqueue', 'true'],
  ]) {
    const refused = await box.run([...args, '--db', link]);
    expectRefusal(refused, 5, /link\.db is a broken link: .*data\/real\.db does not exist/);
  }
  const real = pathIn(box, 'data/real.db');
  mkdirSync(dirname(real), { mode: 0o700 });
  await box.json(['restore', pathIn(box), '--db', real]);
  expect(await jobIds(box, link)).toEqual(['job']);
});

test('an export never replaces a database or a part of one', async (box) => {
  await enqueue(box, 'job', 'true', { delay: 3600 });
  const otherDb = pathIn(box, 'other.db');
  await box.json(['backup', otherDb]);
  symlinkSync(storePath(box), pathIn(box, 'link'));
  const targets: [string, RegExp][] = [
    [storePath(box), /is a database that is in use/],
    [pathIn(box, 'link'), /is a database that is in use/],
    [`${storePath(box)}-wal`, /is a database that is in use/],
    [otherDb, /is already a database/],
    [`${otherDb}-wal`, /is already a database/],
    [box.home, /is not a regular file/],
  ];
  for (const withWorkers of [false, true]) {
    if (withWorkers) await box.startWorkers();
    for (const [target, message] of targets)
      expectRefusal(await box.run(['export', '--force', target]), 2, message);
  }
  expect(await jobIds(box, storePath(box))).toEqual(['job']);
  expect(await jobIds(box, otherDb)).toEqual(['job']);
  writeFileSync(pathIn(box, 'lines'), 'old');
  await box.json(['export', '--force', pathIn(box, 'lines')]);
  expect(readFileSync(pathIn(box, 'lines'), 'utf8')).toContain('"queuectl":"export"');
});

const testAsRoot = plainTest.skipIf(process.getuid!() !== 0);
const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

testAsRoot.concurrent(
  'a backup or an export onto the link or the file of another user in a shared directory is refused with a reason',
  inSandbox(async (box) => {
    chmodSync(box.directory, 0o1777);
    symlinkSync('/nothing', pathIn(box, 'link'));
    writeFileSync(pathIn(box, 'file'), 'theirs');
    const options = { through: AS_NOBODY, env: { QUEUECTL_HOME: pathIn(box, 'own') } };
    expect((await box.run(['enqueue', 'true'], options)).code).toBe(0);
    for (const verb of ['backup', 'export'])
      for (const name of ['link', 'file']) {
        const target = pathIn(box, name);
        const refused = await box.run([verb, '--force', target], options);
        expectRefusal(refused, 6, new RegExp(`cannot replace ${target}: operation not permitted`));
      }
    expect(readdirSync(box.directory).sort()).toEqual(['file', 'link', 'own']);
  }),
);

// attack-coverage.test.ts explains the number S16.
testAsRoot.concurrent(
  'S16: a backup does not write long output into a directory that another user can write',
  inSandbox(async (box) => {
    await enqueue(box, 'loud', 'seq 10000');
    await box.run(['worker', 'start', '--drain', '--quiet']);
    const shared = pathIn(box, 'shared');
    mkdirSync(shared);
    const traps: Record<string, (directory: string) => void> = {
      theirs: (directory) => chownSync(directory, 65534, 65534),
      open: (directory) => chmodSync(join(directory, 'attempts'), 0o777),
      linked: (directory) => {
        rmSync(directory, { recursive: true });
        mkdirSync(`${directory}.real`);
        chownSync(`${directory}.real`, 65534, 65534);
        symlinkSync(`${directory}.real`, directory);
      },
    };
    for (const [name, setTrap] of Object.entries(traps)) {
      const target = join(shared, `${name}.db`);
      mkdirSync(join(`${target}.d`, 'attempts'), { recursive: true, mode: 0o755 });
      setTrap(`${target}.d`);
      const filesBefore = readdirSync(shared, { recursive: true }).sort();
      const result = await box.run(['backup', '--with-output', target]);
      expectRefusal(result, 6, /belongs to user 65534|other users can write/);
      expect(readdirSync(shared, { recursive: true }).sort()).toEqual(filesBefore);
    }
    const target = join(shared, 'good.db');
    expect(await box.json(['backup', '--with-output', target])).toMatchObject({ outputs: 1 });
    expect(statSync(`${target}.d`).mode & 0o777).toBe(0o700);
    expect(await box.json(['backup', '--force', '--with-output', target])).toMatchObject({ outputs: 1 });
  }),
);

const WITHOUT_HARD_LINKS = {
  through: ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'inject=link,linkat:error=EPERM'],
};

plainTest.skipIf(!hasTool('strace')).concurrent(
  'without hard links backup and export still work, and workers refuse to start with that reason',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true', { delay: 3600 });
    expect((await box.run(['backup', pathIn(box)], WITHOUT_HARD_LINKS)).code).toBe(0);
    expect(await jobIds(box, pathIn(box))).toEqual(['job']);
    expect((await box.run(['export', pathIn(box, 'lines')], WITHOUT_HARD_LINKS)).code).toBe(0);
    expect(readFileSync(pathIn(box, 'lines'), 'utf8')).toContain('"end"');
    for (const verb of ['backup', 'export'])
      expectRefusal(await box.run([verb, pathIn(box)], WITHOUT_HARD_LINKS), 4, /already exists/);
    const started = await box.run(['worker', 'start', '--drain', '--quiet'], WITHOUT_HARD_LINKS);
    expectRefusal(started, 5, /queue\.db\.d is on a file system without hard links/);
    expect(readdirSync(box.directory).filter((name) => name.includes('.draft'))).toEqual([]);
  }),
);
