/** A title that starts with S and a number covers the attack of that number in attack-coverage.test.ts. */

import { expect, test as plainTest } from 'bun:test';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { namesIn } from '../../src/files/read.ts';
import { startGatedJob } from '../support/gated-job.ts';
import { killAll, workersOf } from '../support/processes.ts';
import { enqueue, inSandbox, until, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** What a command does to its output file, with the shell code that does it. */
const TAMPERING: Record<string, string> = {
  'replaces its output file with a link to another file': 'ln -sf "$SECRET" "$OUT"',
  'replaces its output file with a pipe without a writer': 'rm "$OUT"; mkfifo "$OUT"',
  'replaces its output file with a link to a device': 'ln -sf /dev/zero "$OUT"',
  'replaces its output file with a directory': 'rm "$OUT"; mkdir "$OUT"',
  'removes its output file': 'rm "$OUT"',
  'removes the directory of its output file': 'rm -r "$(dirname "$OUT")"',
};

for (const [action, script] of Object.entries(TAMPERING)) {
  test(`S15: a command that ${action} harms neither the worker nor other files`, async (box) => {
    const secret = join(box.directory, 'secret');
    writeFileSync(secret, 'a secret\n'.repeat(3000));
    const before = readFileSync(secret);
    await box.run(['config', 'set', 'output-limit', '64k']);
    const workers = await box.startWorkers();
    const attempts = join(box.stateDirectory(), 'attempts');
    const command = `OUT=$(echo ${attempts}/*-1.out); SECRET=${secret}; echo hello; ${script}; until test -e go; do sleep 0.05; done; seq 100000`;
    await enqueue(box, 'vandal', command);
    await untilState(box, 'vandal', 'processing');
    await until(
      () => !isFile(join(attempts, namesIn(attempts).find((name) => name.endsWith('-1.out')) ?? '')),
      'the output file is replaced',
    );
    expect((await box.run(['logs', 'vandal'])).stdout).not.toContain('secret');
    writeFileSync(join(box.directory, 'go'), '');
    await untilState(box, 'vandal', 'completed');
    expect((await box.run(['logs', 'vandal'])).stdout).not.toContain('secret');
    expect(readFileSync(secret)).toEqual(before);
    await enqueue(box, 'next', 'echo fine');
    await untilState(box, 'next', 'completed');
    expect((await box.run(['logs', 'next'])).stdout).toBe('fine\n');
    expect(workers.output()).not.toContain('starting a replacement');
  });
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

test('every file and directory is accessible to its owner only, even with umask 0', async (box) => {
  const umask0 = { through: ['sh', '-c', 'umask 0; exec "$0" "$@"'] };
  expect((await box.run(['worker', 'start', '--detach'], umask0)).code).toBe(0);
  await box.run(['enqueue', '--id', 'loud', 'seq 10000'], umask0);
  await box.run(['enqueue', '--id', 'runs', 'until test -e go; do sleep 0.05; done'], umask0);
  await untilState(box, 'loud', 'completed');
  await untilState(box, 'runs', 'processing');
  expect((await box.run(['backup', '--with-output', join(box.home, 'backup.db')], umask0)).code).toBe(0);
  const names = readdirSync(box.home, { recursive: true, encoding: 'utf8' });
  expect(names).toContain('queue.db-wal');
  for (const name of ['', ...names]) {
    const stat = lstatSync(join(box.home, name));
    const mode = (stat.mode & 0o777).toString(8);
    expect({ name, mode }).toEqual({ name, mode: stat.isDirectory() ? '700' : '600' });
  }
  writeFileSync(join(box.directory, 'go'), '');
});

/** Unsafe owners and modes, with functions that set them and the messages about them. */
const UNSAFE: [what: string, makeUnsafe: (db: string) => void, says: RegExp][] = [
  ['a database that others can write', (db) => chmodSync(db, 0o666), /other users can write/],
  ['a database that the group can write', (db) => chmodSync(db, 0o660), /other users can write/],
  ['a state directory that others can write', (db) => chmodSync(`${db}.d`, 0o777), /other users can write/],
  [
    'an attempts directory that others can write',
    (db) => chmodSync(`${db}.d/attempts`, 0o777),
    /other users can write/,
  ],
  ["another user's database", (db) => chownSync(db, 65534, 65534), /belongs to user 65534/],
  ["another user's state directory", (db) => chownSync(`${db}.d`, 65534, 65534), /belongs to user 65534/],
  [
    "a state directory that links to another user's directory",
    (db) => {
      rmSync(`${db}.d`, { recursive: true });
      mkdirSync(`${db}.theirs`, { mode: 0o700 });
      chownSync(`${db}.theirs`, 65534, 65534);
      symlinkSync(`${db}.theirs`, `${db}.d`);
    },
    /belongs to user 65534/,
  ],
  ['a home that others can write', (db) => chmodSync(dirname(db), 0o777), /other users can write .*home/],
  [
    'a sticky home that others can write',
    (db) => chmodSync(dirname(db), 0o1777),
    /other users can write .*home/,
  ],
  ["another user's home", (db) => chownSync(dirname(db), 65534, 65534), /home belongs to user 65534/],
  ...['-wal', '-shm', '-journal'].map((end): (typeof UNSAFE)[number] => [
    `another user's ${end} file`,
    (db) => {
      writeFileSync(db + end, '');
      chownSync(db + end, 65534, 65534);
    },
    new RegExp(`${end} belongs to user 65534`),
  ]),
];

for (const [what, makeUnsafe, says] of UNSAFE) {
  plainTest.skipIf(process.getuid!() !== 0 && says.source.includes('belongs')).concurrent(
    `S16, S19: commands refuse ${what}, unless QUEUECTL_ANY_OWNER is set`,
    inSandbox(async (box) => {
      await enqueue(box, 'job', 'true');
      const db = join(box.home, 'queue.db');
      makeUnsafe(db);
      const before = readdirSync(box.directory, { recursive: true });
      for (const command of [['list'], ['enqueue', 'true'], ['worker', 'start'], ['config', 'list']])
        expectRefusal(await box.run(command), 6, says);
      const doctor = await box.run(['doctor']);
      expect(doctor.code).toBe(1);
      expect(doctor.stdout).toMatch(says);
      expect(readdirSync(box.directory, { recursive: true })).toEqual(before);
      const { code, stdout } = await box.run(['list', '-q'], { env: { QUEUECTL_ANY_OWNER: '1' } });
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'job\n' });
    }),
  );
}

test('S16: no store is created in a home that others can write, even if it is sticky', async (box) => {
  mkdirSync(box.home);
  chmodSync(box.home, 0o777);
  expectRefusal(await box.run(['enqueue', 'true']), 6, /other users can write .*home/);
  expect((await box.run(['doctor'])).code).toBe(1);
  expect(readdirSync(box.home)).toEqual([]);
  chmodSync(box.home, 0o1777);
  expectRefusal(await box.run(['enqueue', 'true']), 6, /other users can write .*home/);
  expect((await box.run(['doctor'])).code).toBe(1);
  expect(readdirSync(box.home)).toEqual([]);
  chmodSync(box.home, 0o700);
  await enqueue(box, 'job', 'true');
  expect((await box.run(['worker', 'start', '--drain', '--quiet'])).code).toBe(0);
  expect(await box.json(['show', 'job'])).toMatchObject({ state: 'completed' });
  const { stdout } = await box.run(['doctor', '--json']);
  expect(stdout).toContain('{"check":"permissions","status":"ok"');
});

const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

for (const mode of [0o777, 0o1777]) {
  plainTest.skipIf(process.getuid!() !== 0).concurrent(
    `S16: a WAL that another user puts beside the database in a home of mode ${mode.toString(8)} is never read`,
    inSandbox(async (box) => {
      chmodSync(box.directory, 0o755);
      await enqueue(box, 'mine', 'true');
      chmodSync(box.home, mode);
      const theirs = join(box.directory, 'theirs');
      mkdirSync(theirs);
      chownSync(theirs, 65534, 65534);
      const attack = `QUEUECTL_HOME=. QUEUECTL_CRASH_AT=after-insert "$0" enqueue --cwd / --id evil 'touch ${box.directory}/pwned'; cp queue.db-wal ${box.home}/queue.db-wal`;
      await box.run([], { cwd: theirs, through: [...AS_NOBODY, 'sh', '-c', attack] });
      expect(statSync(join(box.home, 'queue.db-wal')).uid).toBe(65534);
      for (const command of [['worker', 'start', '--drain'], ['db', 'check'], ['list']])
        expectRefusal(await box.run(command), 6, /belongs to|other users can/);
      expect(existsSync(join(box.directory, 'pwned'))).toBe(false);
      rmSync(join(box.home, 'queue.db-wal'));
      chmodSync(box.home, 0o700);
      expect((await box.run(['list', '-q'])).stdout).toBe('mine\n');
    }),
  );
}

plainTest.skipIf(process.getuid!() !== 0)(
  "an attempt that another user's worker left does not make the next workers exit",
  inSandbox(async (box) => {
    chmodSync(box.directory, 0o1777);
    const workers = await box.startWorkers();
    const job = await startGatedJob(box, 'job');
    await killAll([workers.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
    job.release();
    await until(() => job.traces().length === 2, 'the job has ended');
    const everything = readdirSync(box.home, { recursive: true, encoding: 'utf8' });
    for (const name of ['', ...everything.filter((one) => !one.includes('attempts/'))])
      chownSync(join(box.home, name), 65534, 65534);
    const nobody = { through: AS_NOBODY, cwd: '/' };
    const next = box.start(['worker', 'start'], nobody);
    await until(() => next.output().includes('adopted'), 'the job is adopted');
    await until(() => /job\b.*(lost|dead|again|requeued)/.test(next.output()), 'the job is settled');
    await box.run(['enqueue', '--cwd', '/', '--id', 'next', 'true'], nobody);
    await until(
      async () => (await box.run(['show', 'next', '--json'], nobody)).stdout.includes('"completed"'),
      'the next job has run',
    );
    expect(next.output()).not.toContain('starting a replacement');
    expect(statSync(join(box.home, 'queue.db')).uid).toBe(65534);
  }),
);
