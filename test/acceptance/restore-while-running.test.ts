import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type GatedJob, startGatedJob } from '../support/gated-job.ts';
import { untilNoProcessOf } from '../support/processes.ts';
import {
  configure,
  enqueue,
  inSandbox,
  type Result,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { backupOf, dbOf } from '../support/replaced-store.ts';

const PAGE = 4096;
const restore = (box: Sandbox): string[] => ['restore', '--yes', backupOf(box)];
const REPAIR = (): string[] => ['db', 'repair'];

/** Completes two jobs and leaves one whose command keeps running without a worker. */
async function leaveRunning(box: Sandbox): Promise<GatedJob> {
  const workers = await box.startWorkers();
  for (const id of ['a', 'b']) {
    await enqueue(box, id, 'true');
    await untilState(box, id, 'completed');
  }
  const job = await startGatedJob(box, 'job');
  await box.json(['backup', backupOf(box)]);
  await box.run(['worker', 'stop', '--leave']);
  await workers.exit;
  return job;
}

function zero(box: Sandbox, length: number, at: number): void {
  const file = openSync(dbOf(box), 'r+');
  writeSync(file, Buffer.alloc(length), 0, length, at);
  closeSync(file);
}

function zeroAttempts(box: Sandbox): void {
  const db = new DatabaseSync(dbOf(box));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const { rootpage } = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'attempt'").get()!;
  db.close();
  zero(box, PAGE, ((rootpage as number) - 1) * PAGE);
}

const SCENES: [string, (box: Sandbox) => void, (box: Sandbox) => string[]][] = [
  ['restore over a store that cannot be read', (box) => zero(box, 100, 0), restore],
  ['restore where the store is gone', (box) => rmSync(dbOf(box)), restore],
  ['repair of a store that has lost its attempts', zeroAttempts, REPAIR],
];

for (const [what, damage, args] of SCENES) {
  test.concurrent(
    `${what} is refused while a command runs, so that the command never runs twice at the same time`,
    inSandbox(async (box) => {
      const job = await leaveRunning(box);
      damage(box);
      const refused = await box.run(args(box));
      expectRefusal(refused, 4, /a command from this queue is still running as process \d+/);
      end(refused);
      await untilNoProcessOf(box, 'job');
      expect((await box.run(args(box))).stderr).not.toContain('error');
      job.release();
      expect((await box.run(['worker', 'start', '--drain', '--quiet'])).code).toBe(0);
      expect(job.traces()).toEqual(['start', 'start', 'end']);
    }),
  );
}

/** Ends the command as the hint suggests. */
function end({ stderr }: Result): void {
  const group = /kill -- (-\d+)$/m.exec(stderr)![1]!;
  expect(spawnSync('kill', ['--', group]).status).toBe(0);
}

const through = ['unshare', '-pf', '--mount-proc'];
const missing = spawnSync(through[0]!, [...through.slice(1), 'true']).status !== 0;

for (const [what, damage] of [
  ["job 'job'", () => {}],
  ['a command from this queue', (box: Sandbox) => zero(box, 100, 0)],
] as const)
  test.skipIf(missing).concurrent(
    `restore from another pid namespace is also refused because of ${what}`,
    inSandbox(async (box) => {
      await configure(box, { 'heartbeat-interval': '200ms', lease: '1s' });
      await leaveRunning(box);
      damage(box);
      const says = new RegExp(`${what} may still be running in another pid namespace`);
      // In that namespace the worker seems to live until its lease is over.
      const refused = await until(async () => {
        const result = await box.run(restore(box), { through });
        return /worker \w+ is running/.test(result.stderr) ? null : result;
      }, 'no worker is in the way');
      expectRefusal(refused, 4, says);
    }),
  );
