import { expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startGatedJob } from '../support/gated-job.ts';
import { killAll, workersOf } from '../support/processes.ts';
import {
  configure,
  enqueue,
  inSandbox,
  lines,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';

const file = (box: Sandbox, name = 'backup.db'): string => join(box.directory, name);

function epochOf(path: string): string {
  const db = new DatabaseSync(path, { readOnly: true });
  const { value } = db.prepare("SELECT value FROM meta WHERE key = 'epoch'").get() as { value: string };
  db.close();
  return value;
}

test.concurrent(
  'a backup taken while workers run restores to a queue that completes every job',
  inSandbox(async (box) => {
    const jobs = 300;
    const text = Array.from(
      { length: jobs },
      (_, i) => `{"id":"j${i}","command":"echo $QUEUECTL_JOB_ID >>traces"}`,
    );
    await box.run(['enqueue', '--file', '-'], { stdin: text.join('\n') });
    const workers = box.start([
      'worker',
      'start',
      '--count',
      '2',
      '--concurrency',
      '2',
      '--drain',
      '--quiet',
    ]);
    await until(() => lines(file(box, 'traces')).length > 40, 'some have run');
    const made = await box.json<{ jobs: number }>(['backup', file(box)]);
    expect(made.jobs).toBe(jobs);
    await workers.exit;
    expect(statSync(file(box)).mode & 0o777).toBe(0o600);
    const elsewhere = join(box.directory, 'other.db');
    await box.json(['restore', file(box), '--db', elsewhere]);
    expect(epochOf(elsewhere)).not.toBe(epochOf(join(box.home, 'queue.db')));
    expect((await box.run(['worker', 'start', '--drain', '--quiet', '--db', elsewhere])).code).toBe(0);
    const counts = await box.json<{ counts: Record<string, number> }>(['status', '--db', elsewhere]);
    expect(JSON.stringify(counts)).toContain(`"completed":${jobs}`);
    expect(new Set(lines(file(box, 'traces'))).size).toBe(jobs);
    expect(readdirSync(box.directory).filter((name) => name.includes('.draft'))).toEqual([]);
  }),
);

test.concurrent(
  'an attempt that ran during the backup counts as lost: the job is retried, or dead if it is at most once',
  inSandbox(async (box) => {
    await box.startWorkers('--concurrency', '2');
    const job = await startGatedJob(box, 'job');
    await enqueue(box, 'once', 'until test -e go; do sleep 0.05; done', { at_most_once: true });
    await untilState(box, 'once', 'processing');
    await box.json(['backup', file(box)]);
    const kept = (id: string) => box.json(['show', id, '--db', file(box)]);
    expect(await kept('job')).toMatchObject({ state: 'pending', attempts: 0, crashes: 1 });
    expect(await kept('once')).toMatchObject({ state: 'dead', crashes: 1 });
    expect(await box.json(['worker', 'list', '--db', file(box)])).toEqual([]);
    job.release();
    writeFileSync(join(box.directory, 'go'), '');
  }),
);

test.concurrent(
  'restore refuses while workers or commands run, and asks before it replaces jobs',
  inSandbox(async (box) => {
    await enqueue(box, 'first', 'true', { delay: 3600 });
    await box.json(['backup', file(box)]);
    const workers = await box.startWorkers();
    const job = await startGatedJob(box, 'second');
    expectRefusal(await box.run(['restore', '--yes', file(box)]), 5, /in use by process/);
    await killAll([workers.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
    expectRefusal(await box.run(['restore', '--yes', file(box)]), 4, /'second' is still running/);
    job.release();
    await until(() => job.traces().length === 2, 'it has ended');
    await until(async () => (await box.run(['restore', file(box)])).code === 2, 'only --yes is missing');
    expectRefusal(await box.run(['restore', file(box)]), 2, /replace .* \(2 jobs\)/);
    expect(await box.json<unknown[]>(['list'])).toHaveLength(2);
    const { kept } = await box.json<{ kept: string }>(['restore', '--yes', file(box)]);
    expect(await box.json<{ id: string }[]>(['list'])).toMatchObject([{ id: 'first' }]);
    expect(await box.json<unknown[]>(['list', '--db', kept])).toHaveLength(2);
  }),
);

test.concurrent(
  '--with-output copies long output, and a restore without it finds the output that still exists',
  inSandbox(async (box) => {
    await enqueue(box, 'loud', 'seq 10000');
    await box.run(['worker', 'start', '--drain', '--quiet']);
    const output = (await box.run(['logs', 'loud'])).stdout;
    expect(output.length).toBeGreaterThan(16 * 1024);
    expect(await box.json(['backup', file(box)])).toMatchObject({ outputs: 0, outputs_left: 1 });
    expect(await box.json(['backup', '--with-output', file(box, 'all.db')])).toMatchObject({ outputs: 1 });
    expect((await box.run(['logs', 'loud', '--db', file(box, 'all.db')])).stdout).toBe(output);
    const { kept } = await box.json<{ kept: string }>(['restore', '--yes', file(box)]);
    expect((await box.run(['logs', 'loud'])).stdout).toBe(output);
    expect((await box.run(['logs', 'loud', '--db', kept])).stdout).toBe(output);
    const elsewhere = join(box.directory, 'new.db');
    await box.json(['restore', file(box, 'all.db'), '--db', elsewhere]);
    expect((await box.run(['logs', 'loud', '--db', elsewhere])).stdout).toBe(output);
  }),
);

test.concurrent(
  'both streams of split output are backed up and restored, trimmed or not',
  inSandbox(async (box) => {
    await configure(box, { 'output-limit': '64K' });
    await enqueue(box, 'split', 'seq 300000; seq 9000 >&2', { split_output: true });
    await enqueue(box, 'quiet', 'seq 300000 >&2', { split_output: true });
    await box.run(['worker', 'start', '--drain', '--quiet']);
    await box.json(['backup', '--with-output', file(box)]);
    const elsewhere = join(box.directory, 'new.db');
    await box.json(['restore', file(box), '--db', elsewhere]);
    for (const id of ['split', 'quiet']) {
      for (const stream of ['--stdout', '--stderr']) {
        const logs = async (...db: string[]) => (await box.run(['logs', id, stream, ...db])).stdout;
        const output = await logs();
        expect(output === '').toBe(id === 'quiet' && stream === '--stdout');
        expect(await logs('--db', file(box))).toBe(output);
        expect(await logs('--db', elsewhere)).toBe(output);
      }
    }
  }),
);

test.concurrent(
  'a backup never overwrites a file without --force, and never a store in use',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true');
    writeFileSync(file(box), 'mine');
    expectRefusal(await box.run(['backup', file(box)]), 4, /already exists/);
    expect(readFileSync(file(box), 'utf8')).toBe('mine');
    expectRefusal(await box.run(['backup', '--force', join(box.home, 'queue.db')]), 2, /in use/);
    expectRefusal(
      await box.run(['backup', join(box.directory, 'nowhere', 'x.db')]),
      2,
      /nowhere does not exist/,
    );
    expect((await box.run(['backup', '--force', file(box)])).code).toBe(0);
    expectRefusal(
      await box.run(['backup', file(box, 'no.db'), '--db', file(box, 'none.db')]),
      5,
      /no such file/,
    );
    expect(existsSync(file(box, 'none.db'))).toBe(false);
  }),
);

/** Files that are not backups of queuectl, with the exit code and the message of the refusal. */
const BAD: Record<string, { make(path: string): void; code: number; says: RegExp }> = {
  text: {
    make: (path) => writeFileSync(path, 'dear diary\n'.repeat(500)),
    code: 5,
    says: /not a queuectl database/,
  },
  'nothing there': { make: () => {}, code: 2, says: /does not exist/ },
  'a directory': { make: (path) => mkdirSync(path), code: 5, says: /^error: / },
  'an empty file': { make: (path) => writeFileSync(path, ''), code: 5, says: /is empty/ },
  "another program's database": {
    make: (path) => edit(path, 'CREATE TABLE address (name TEXT)'),
    code: 5,
    says: /another program/,
  },
  'a cut file': { make: (path) => truncateSync(copyTo(path), 20_480), code: 5, says: /damaged|malformed/ },
  'a newer schema': {
    make: (path) => edit(copyTo(path), 'PRAGMA user_version = 1000'),
    code: 5,
    says: /version 1000/,
  },
  'a trigger of its own': {
    make: (path) =>
      edit(
        copyTo(path),
        "CREATE TRIGGER evil AFTER INSERT ON job BEGIN UPDATE job SET command = 'evil'; END",
      ),
    code: 5,
    says: /evil does not belong to queuectl/,
  },
  'the store itself': {
    make: (path) => symlinkSync(join(dirname(path), 'home', 'queue.db'), path),
    code: 2,
    says: /is the database to be replaced/,
  },
};

function edit(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

let template = '';
function copyTo(path: string): string {
  writeFileSync(path, readFileSync(template));
  return path;
}

test(
  'S20: restore refuses a file that is not a backup of queuectl, and the queue stays unchanged',
  inSandbox(async (box) => {
    for (let i = 0; i < 50; i++) await enqueue(box, `job${i}`, `echo ${'x'.repeat(400)}`, { delay: 3600 });
    template = file(box, 'good.db');
    await box.json(['backup', template]);
    const before = await box.json(['list']);
    for (const [what, { make, code, says }] of Object.entries(BAD)) {
      const path = file(box, what.replaceAll(/\W/g, '-'));
      make(path);
      expectRefusal(await box.run(['restore', '--yes', path]), code, says);
      expect(await box.json(['list'])).toEqual(before as object);
    }
    expect(readdirSync(box.home).sort()).toEqual(['queue.db', 'queue.db.d']);
    chmodSync(template, 0o400);
    expect((await box.run(['restore', '--yes', template])).code).toBe(0);
    expect(statSync(join(box.home, 'queue.db')).mode & 0o777).toBe(0o600);
  }),
);
