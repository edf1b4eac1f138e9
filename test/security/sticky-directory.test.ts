import { expect, test } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { enqueue, inSandbox, type Sandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { writeHotJournal } from './hot-journal.ts';

/** Each exploit is tried this many times. QUEUECTL_SECURITY_TRIES=50 is the full test. */
const TRIES = Number(process.env.QUEUECTL_SECURITY_TRIES ?? 1);
const NOBODY = 65534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
const testAsRoot = test.skipIf(process.getuid!() !== 0);
/** The victim runs this many commands in each try. The attacker needs to hit only one of them. */
const COMMANDS_PER_TRY = TRIES === 1 ? 5 : 20;
const LIMIT_MS = 60_000 + TRIES * 20_000;

/** A directory like /tmp with a store of the victim, and the tools of the attacker. */
interface Scene {
  shared: string;
  db: string;
  /** Exists if a command of the attacker ran as the victim. */
  pwned: string;
  /** Files of the attacker that add a job to a database if SQLite reads them, by their suffix. */
  hostile: Record<'-wal' | '-journal', string>;
  /** Starts racer.ts as the attacker. */
  attack(...args: string[]): Promise<ChildProcess>;
}

async function prepareScene(box: Sandbox): Promise<Scene> {
  chmodSync(box.directory, 0o755);
  const shared = join(box.directory, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o1777);
  const attackerDirectory = join(box.directory, 'theirs');
  mkdirSync(attackerDirectory, { mode: 0o755 });
  chownSync(attackerDirectory, NOBODY, NOBODY);
  const pwned = join(box.directory, 'pwned');
  const evil = `--cwd / --id evil 'touch ${pwned}'`;
  const prepare = `export QUEUECTL_HOME=wal; QUEUECTL_CRASH_AT=after-insert "$0" enqueue ${evil}
    export QUEUECTL_HOME=whole; "$0" enqueue ${evil} && "$0" backup --quiet whole.db`;
  await box.run([], { cwd: attackerDirectory, through: [...AS_NOBODY, 'sh', '-c', prepare] });
  const hostile = {
    '-wal': join(attackerDirectory, 'wal', 'queue.db-wal'),
    '-journal': join(attackerDirectory, 'evil-journal'),
  };
  writeHotJournal(join(attackerDirectory, 'whole.db'), hostile['-journal']);
  const parking = join(shared, 'parking');
  mkdirSync(parking);
  chownSync(parking, NOBODY, NOBODY);
  for (const [suffix, file] of Object.entries(hostile)) {
    copyFileSync(file, join(parking, basename(file)));
    chownSync(join(parking, basename(file)), NOBODY, NOBODY);
    hostile[suffix as '-wal'] = join(parking, basename(file));
  }
  const runtime = join(box.directory, 'bun');
  const racer = join(box.directory, 'racer.ts');
  linkOrCopy(process.execPath, runtime);
  copyFileSync(join(import.meta.dir, 'racer.ts'), racer);
  await enqueue(box, 'mine', 'true');
  return {
    ...{ shared, pwned, hostile, db: join(shared, 'q.db') },
    attack: (...args) =>
      new Promise((done, fail) => {
        const child = spawn(runtime, [racer, ...args], {
          ...{ uid: NOBODY, gid: NOBODY, cwd: '/', env: { HOME: '/', PATH: process.env.PATH! } },
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        child.once('error', fail);
        child.stdout!.once('data', () => done(child));
      }),
  };
}

function linkOrCopy(file: string, at: string): void {
  try {
    linkSync(file, at);
  } catch {
    copyFileSync(file, at);
  }
}

/** Runs `work` while the attack runs. */
async function during<T>(attack: Promise<ChildProcess>, work: () => Promise<T>): Promise<T> {
  const child = await attack;
  try {
    return await work();
  } finally {
    child.kill('SIGKILL');
  }
}

/** Replaces the victim's store with a fresh copy, as if an older version had created it there. */
function resetStore(box: Sandbox, db: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal', '.d'])
    rmSync(db + suffix, { recursive: true, force: true });
  copyFileSync(join(box.home, 'queue.db'), db);
  chmodSync(db, 0o600);
}

for (const suffix of ['-wal', '-journal'] as const) {
  testAsRoot(
    `a ${suffix} file that another user moves beside a store in a sticky directory never runs that user's commands`,
    inSandbox(async (box) => {
      const { db, pwned, hostile, attack } = await prepareScene(box);
      let successfulAttacks = 0;
      for (let i = 0; i < TRIES; i++) {
        resetStore(box, db);
        await during(attack('beside', hostile[suffix], db, suffix), async () => {
          for (let run = 0; run < COMMANDS_PER_TRY; run++) await box.run(['--db', db, 'list']);
        });
        await box.run(['--db', db, 'worker', 'start', '--drain', '--quiet']);
        if (existsSync(pwned)) successfulAttacks++;
        rmSync(pwned, { force: true });
      }
      expect({ successfulAttacks }).toEqual({ successfulAttacks: 0 });
    }, LIMIT_MS),
    2 * LIMIT_MS,
  );

  testAsRoot(
    `a ${suffix} file that another user moves beside a draft in a sticky directory adds nothing to a backup`,
    inSandbox(async (box) => {
      const { shared, hostile, attack } = await prepareScene(box);
      let successfulAttacks = 0;
      for (let i = 0; i < TRIES; i++) {
        const backup = join(shared, `backup-${i}.db`);
        await during(attack('drafts', hostile[suffix], shared, suffix), async () =>
          expect(await box.run(['backup', backup])).toMatchObject({ code: 0 }),
        );
        if (existsSync(backup) && readFileSync(backup, 'latin1').includes('evil')) successfulAttacks++;
      }
      expect({ successfulAttacks }).toEqual({ successfulAttacks: 0 });
    }, LIMIT_MS),
    2 * LIMIT_MS,
  );
}

testAsRoot(
  'a -wal file that another user moves beside a backup in a sticky directory adds nothing to a restored store',
  inSandbox(async (box) => {
    const { db, hostile, attack } = await prepareScene(box);
    await box.json(['backup', db]);
    let successfulAttacks = 0;
    for (let i = 0; i < TRIES; i++) {
      const restored = join(box.directory, `restored-${i}`, 'queue.db');
      await during(attack('beside', hostile['-wal'], db, '-wal'), () =>
        box.run(['--db', restored, 'restore', '--yes', db]),
      );
      if (existsSync(restored) && readFileSync(restored, 'latin1').includes('evil')) successfulAttacks++;
    }
    expect({ successfulAttacks }).toEqual({ successfulAttacks: 0 });
  }, LIMIT_MS),
  2 * LIMIT_MS,
);

testAsRoot.concurrent(
  'a store directly in a sticky directory is refused, and a link there to a safe store is not',
  inSandbox(async (box) => {
    const shared = join(box.directory, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    const db = join(shared, 'q.db');
    const refused = await box.run(['--db', db, 'enqueue', 'true']);
    expectRefusal(refused, 6, /other users can write to .*shared \(mode 1777\)/);
    expect(refused.stderr).toContain('use a directory that only you can write');
    expect(readdirSync(shared)).toEqual([]);
    await enqueue(box, 'mine', 'true');
    copyFileSync(join(box.home, 'queue.db'), db);
    chmodSync(db, 0o600);
    expectRefusal(await box.run(['--db', db, 'list']), 6, /other users can write to .*shared/);
    expect((await box.run(['--db', db, 'doctor'])).stdout).toMatch(/other users can write to .*shared/);
    rmSync(db);
    symlinkSync(join(box.home, 'queue.db'), db);
    expect((await box.run(['--db', db, 'list', '-q'])).stdout).toBe('mine\n');
    const anyOwner = { env: { QUEUECTL_ANY_OWNER: '1' } };
    expect((await box.run(['--db', join(shared, 'other.db'), 'enqueue', 'true'], anyOwner)).code).toBe(0);
  }),
);

testAsRoot.concurrent(
  'the real directory of a store must belong to this user or to root, and nobody else may write to it',
  inSandbox(async (box) => {
    const home = join(box.directory, 'a');
    mkdirSync(home, { mode: 0o700 });
    const run = (directory = home) => box.run(['--db', join(directory, 'q.db'), 'enqueue', 'true']);
    expect((await run()).code).toBe(0);
    for (const mode of [0o777, 0o1777, 0o770]) {
      chmodSync(home, mode);
      expectRefusal(await run(), 6, /other users can write .*a \(mode/);
    }
    chmodSync(home, 0o755);
    expect((await run()).code).toBe(0);
    const link = join(box.directory, 'link');
    symlinkSync(home, link);
    expect((await run(link)).code).toBe(0);
    chownSync(home, NOBODY, NOBODY);
    expectRefusal(await run(), 6, /a belongs to user 65534/);
    expectRefusal(await run(link), 6, /a belongs to user 65534/);
  }),
);

testAsRoot.concurrent(
  'a directory that another user creates first in a sticky directory is not used',
  inSandbox(async (box) => {
    const shared = join(box.directory, 'shared');
    mkdirSync(join(shared, 'theirs'), { recursive: true });
    chmodSync(shared, 0o1777);
    chownSync(join(shared, 'theirs'), NOBODY, NOBODY);
    const enqueueInto = (db: string) => box.run(['enqueue', 'true'], { env: { QUEUECTL_DB: db } });
    const refused = await enqueueInto(join(shared, 'theirs', 'new', 'q.db'));
    expectRefusal(refused, 6, /theirs belongs to user 65534/);
    expect((await enqueueInto(join(shared, 'mine', 'q.db'))).code).toBe(0);
  }),
);

testAsRoot.concurrent(
  'backup and export into a sticky directory leave nothing but their file',
  inSandbox(async (box) => {
    const shared = join(box.directory, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    await enqueue(box, 'mine', 'true');
    const [backup, lines] = [join(shared, 'b.db'), join(shared, 'b.jsonl')];
    for (const [verb, file] of [
      ['backup', backup],
      ['export', lines],
    ] as const) {
      expect((await box.run([verb, file])).code).toBe(0);
      expectRefusal(await box.run([verb, file]), 4, /already exists/);
      expect((await box.run([verb, '--force', file])).code).toBe(0);
    }
    expect(readdirSync(shared).sort()).toEqual(['b.db', 'b.jsonl']);
    expect((await box.run(['--db', backup, 'db', 'check'])).stdout).toBe('ok\n');
    writeFileSync(`${backup}-wal`, '');
    chownSync(`${backup}-wal`, NOBODY, NOBODY);
    expectRefusal(await box.run(['backup', '--force', backup]), 6, /other users can write .*shared/);
    expectRefusal(await box.run(['--db', backup, 'db', 'check']), 6, /other users can write .*shared/);
    chmodSync(shared, 0o777);
    expectRefusal(await box.run(['backup', join(shared, 'c.db')]), 6, /other users can write .*shared/);
    expect((await box.run(['export', join(shared, 'c.jsonl')])).code).toBe(0);
  }),
);
