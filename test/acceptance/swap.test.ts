import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { enqueue, inSandbox, type Sandbox, until } from '../support/queuectl.ts';
import {
  backupPathOf,
  dbPathOf,
  enqueueIntoWal,
  idsIn,
  keptStores,
  openFilePath,
  overwriteHeader,
  processState,
} from '../support/replaced-store.ts';

const swapSource = readFileSync('src/store/sqlite/care/swap.ts', 'utf8');
const ALL_POINTS = [...swapSource.matchAll(/crashPoint\('(swap-\w+)'\)/g)].map(([, name]) => name!);
/** The crash points that only a restore without an old store reaches. */
const POINTS_WITHOUT_OLD_STORE = ['swap-held', 'swap-named', 'swap-swept', 'swap-placed'];
const REPLACING_POINTS = new Set(ALL_POINTS.filter((point) => !POINTS_WITHOUT_OLD_STORE.includes(point)));
// Without this check, renaming a crash point would silently remove tests below.
if (REPLACING_POINTS.size !== 5)
  throw new Error('swap.ts must have five crash points for a store that exists');
const OLD_IDS = ['a', 'acked', 'b', 'c'];

function damageCounter(box: Sandbox): void {
  const db = new DatabaseSync(dbPathOf(box));
  db.exec('UPDATE counter SET jobs = jobs + 1');
  db.close();
}

/** Truncates the database. The rest of the store is in the WAL, which SQLite would remove. */
const truncateDatabase = (box: Sandbox): void => truncateSync(dbPathOf(box), 0);

interface SwapCase {
  command: 'restore' | 'repair';
  /** Damages the store before the last job is written into the WAL. */
  damageBeforeWal?(box: Sandbox): void;
  /** Damages the store after the last job is written into the WAL. */
  damageAfterWal?(box: Sandbox): void;
}

const CASES: Record<string, SwapCase> = {
  'restore over an intact store': { command: 'restore' },
  'restore over a file that cannot be read': { command: 'restore', damageAfterWal: overwriteHeader },
  'restore over a file that was truncated': { command: 'restore', damageAfterWal: truncateDatabase },
  'repair of a store that can be read': { command: 'repair', damageBeforeWal: damageCounter },
  'repair of a file that cannot be read': { command: 'repair', damageAfterWal: overwriteHeader },
};

for (const [what, { command, damageBeforeWal, damageAfterWal }] of Object.entries(CASES)) {
  for (const point of REPLACING_POINTS) {
    test.concurrent(
      `when a ${what} is killed at ${point}, no acknowledged job is lost, and the command can be repeated`,
      inSandbox(async (box) => {
        for (const id of ['a', 'b', 'c']) await enqueue(box, id, 'true');
        await box.json(['backup', backupPathOf(box)]);
        damageBeforeWal?.(box);
        await enqueueIntoWal(box, 'acked');
        damageAfterWal?.(box);
        const wal = readFileSync(`${dbPathOf(box)}-wal`);
        const args = command === 'restore' ? ['restore', '--yes', backupPathOf(box)] : ['db', 'repair'];
        expect((await box.run(args, { env: { QUEUECTL_CRASH_AT: point } })).code).toBe(-1);

        // Either the old store or the new one is complete, and an unreadable old file is still reported.
        const newIds = command === 'restore' ? ['a', 'b', 'c'] : OLD_IDS;
        const replaced = ['swap-replaced', 'swap-kept'].includes(point);
        if (replaced) {
          expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
          expect(await idsIn(box)).toEqual(newIds);
        } else if (damageAfterWal !== undefined)
          expect((await box.run(['list'])).stderr).toContain('damaged');
        else expect(await idsIn(box)).toEqual(OLD_IDS);

        // A file with two names could get two WALs.
        for (const one of keptStores(box)) expect(statSync(one).nlink).toBe(1);

        expect((await box.run(args)).stderr).not.toContain('error');
        expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
        expect(await idsIn(box)).toEqual(newIds);
        expect(readdirSync(box.home).filter((name) => name.startsWith('.queue.db'))).toEqual([]);
        if (damageAfterWal === truncateDatabase) {
          const wals = readdirSync(box.home).filter((name) => name.endsWith('-wal'));
          expect(wals.some((name) => readFileSync(join(box.home, name)).equals(wal))).toBe(true);
        } else {
          const kept = await Promise.all(keptStores(box).map((one) => keptIds(box, one)));
          expect(kept).toContainEqual(OLD_IDS);
        }
      }),
    );
  }
}

/** Returns the job ids of a replaced store that was kept, and repairs the store first if necessary. */
async function keptIds(box: Sandbox, db: string): Promise<string[]> {
  const { stdout } = await box.run(['db', 'check', '--db', db]);
  if (stdout !== 'ok\n') await box.run(['db', 'repair', '--db', db]);
  return idsIn(box, db);
}

test.concurrent(
  'a command that starts while a store is replaced waits and uses the new store',
  inSandbox(async (box) => {
    await enqueue(box, 'a', 'true');
    await box.json(['backup', backupPathOf(box)]);
    const restore = box.start(['restore', '--yes', backupPathOf(box)], {
      env: { QUEUECTL_CRASH_AT: 'swap-cleared:1:stop' },
    });
    await until(() => processState(restore.pid) === 'T', 'the restore is stopped');
    const late = box.start(['enqueue', '--id', 'late', 'true']);
    const opened = (): boolean =>
      readdirSync(`/proc/${late.pid}/fd`).some((fd) => openFilePath(late.pid, fd) === dbPathOf(box));
    await until(opened, 'the enqueue has opened the old file');
    expect(late.child.exitCode).toBe(null);
    restore.child.kill('SIGCONT');
    expect(await restore.exit).toBe(0);
    expect(await late.exit).toBe(0);
    expect(await idsIn(box)).toEqual(['a', 'late']);
    expect(await idsIn(box, keptStores(box)[0]!)).toEqual(['a']);
  }),
);

test.concurrent(
  'while a store in use is replaced repeatedly, each acknowledged job is in it or in a kept store',
  inSandbox(async (box) => {
    await enqueue(box, 'a', 'true');
    await box.json(['backup', backupPathOf(box)]);
    const acknowledged: string[] = [];
    const refused: string[] = [];
    let done = false;
    const enqueueRepeatedly = async (name: string): Promise<void> => {
      for (let i = 0; !done; i++) {
        const { code, stderr } = await box.run(['enqueue', '--id', `${name}${i}`, 'true']);
        if (code === 0) acknowledged.push(`${name}${i}`);
        else refused.push(stderr);
      }
    };
    const restoreSixTimes = async (): Promise<void> => {
      for (let i = 0; i < 6; ) {
        const { code, stderr } = await box.run(['restore', '--yes', backupPathOf(box)]);
        if (code === 0) i++;
        else expect(stderr).toMatch(/in use by process|locked by another process/);
      }
      done = true;
    };
    await Promise.all([enqueueRepeatedly('x'), enqueueRepeatedly('y'), restoreSixTimes()]);
    expect(refused).toEqual([]);
    const kept = keptStores(box);
    expect(kept).toHaveLength(6);
    const found = new Set((await Promise.all([dbPathOf(box), ...kept].map((db) => idsIn(box, db)))).flat());
    expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
    for (const db of [dbPathOf(box), ...kept])
      expect((await box.run(['db', 'check', '--db', db])).stdout).toBe('ok\n');
  }),
);

for (const point of [null, ...POINTS_WITHOUT_OLD_STORE]) {
  test.concurrent(
    `a WAL whose database is gone is not used with a restored database${point === null ? '' : `, even if the restore is killed at ${point}`}`,
    inSandbox(async (box) => {
      await enqueue(box, 'a', 'true');
      await box.json(['backup', backupPathOf(box)]);
      await enqueueIntoWal(box, 'acked');
      const wal = readFileSync(`${dbPathOf(box)}-wal`);
      rmSync(box.home, { recursive: true });
      mkdirSync(box.home, { mode: 0o700 });
      writeFileSync(`${dbPathOf(box)}-wal`, wal, { mode: 0o600 });
      const args = ['restore', '--yes', backupPathOf(box)];
      if (point !== null) expect((await box.run(args, { env: { QUEUECTL_CRASH_AT: point } })).code).toBe(-1);
      if (point !== 'swap-placed') expect((await box.run(args)).code).toBe(0);
      expect(await idsIn(box)).toEqual(['a']);
      expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
      const wals = readdirSync(box.home).filter((name) => name.endsWith('-wal'));
      expect(wals.some((name) => readFileSync(join(box.home, name)).equals(wal))).toBe(true);
      // An empty directory of the draft may be left. It has another name, and the next worker removes it.
      expect(readdirSync(box.home).filter((name) => name.startsWith('.queue.db'))).toEqual([]);
    }),
  );
}
