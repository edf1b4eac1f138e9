import { expect, test as plainTest } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { openDatabase } from '../support/database.ts';
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
import { backupPathOf, dbPathOf } from '../support/replaced-store.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const PAGE_SIZE = 4096;
const restoreArgs = (box: Sandbox): string[] => ['restore', '--yes', backupPathOf(box)];
const repairArgs = (): string[] => ['db', 'repair'];

/** Completes two jobs, starts a third one, makes a backup, and stops the workers while that job keeps running. */
async function leaveJobRunning(box: Sandbox): Promise<GatedJob> {
  const workers = await box.startWorkers();
  for (const id of ['a', 'b']) {
    await enqueue(box, id, 'true');
    await untilState(box, id, 'completed');
  }
  const job = await startGatedJob(box, 'job');
  await box.json(['backup', backupPathOf(box)]);
  await box.run(['worker', 'stop', '--leave']);
  await workers.exit;
  return job;
}

function writeZeros(box: Sandbox, length: number, at: number): void {
  const file = openSync(dbPathOf(box), 'r+');
  writeSync(file, Buffer.alloc(length), 0, length, at);
  closeSync(file);
}

function damageAttemptTable(box: Sandbox): void {
  const db = openDatabase(dbPathOf(box));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const { rootpage } = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'attempt'").get()!;
  db.close();
  writeZeros(box, PAGE_SIZE, ((rootpage as number) - 1) * PAGE_SIZE);
}

const CASES: [what: string, damage: (box: Sandbox) => void, args: (box: Sandbox) => string[]][] = [
  ['restore over a store that cannot be read', (box) => writeZeros(box, 100, 0), restoreArgs],
  ['restore of a missing store', (box) => rmSync(dbPathOf(box)), restoreArgs],
  ['repair of a store whose attempt table is damaged', damageAttemptTable, repairArgs],
];

for (const [what, damage, args] of CASES) {
  test(`${what} is refused while a command runs, so that the command never runs twice at the same time`, async (box) => {
    const job = await leaveJobRunning(box);
    damage(box);
    const refused = await box.run(args(box));
    expectRefusal(refused, 4, /a command from this queue is still running as process \d+/);
    endCommand(refused);
    await untilNoProcessOf(box, 'job');
    expect((await box.run(args(box))).stderr).not.toContain('error');
    job.release();
    expect((await box.run(['worker', 'start', '--drain', '--quiet'])).code).toBe(0);
    expect(job.traces()).toEqual(['start', 'start', 'end']);
  });
}

/** Ends the command with the `kill` that the hint suggests. */
function endCommand({ stderr }: Result): void {
  const group = /kill -- (-\d+)$/m.exec(stderr)![1]!;
  expect(spawnSync('kill', ['--', group]).status).toBe(0);
}

const OTHER_PID_NAMESPACE = ['unshare', '-pf', '--mount-proc'];
const cannotUnshare =
  spawnSync(OTHER_PID_NAMESPACE[0]!, [...OTHER_PID_NAMESPACE.slice(1), 'true']).status !== 0;

for (const [what, damage] of [
  ["job 'job'", () => {}],
  ['a command from this queue', (box: Sandbox) => writeZeros(box, 100, 0)],
] as const)
  plainTest.skipIf(cannotUnshare).concurrent(
    `restore in another pid namespace is refused because ${what} may still be running`,
    inSandbox(async (box) => {
      await configure(box, { 'heartbeat-interval': '200ms', lease: '1s' });
      await leaveJobRunning(box);
      damage(box);
      const says = new RegExp(`${what} may still be running in another pid namespace`);
      // In that namespace the worker seems alive until its lease expires.
      const refused = await until(async () => {
        const result = await box.run(restoreArgs(box), { through: OTHER_PID_NAMESPACE });
        return /worker \w+ is running/.test(result.stderr) ? null : result;
      }, 'no worker seems alive');
      expectRefusal(refused, 4, says);
    }),
  );
