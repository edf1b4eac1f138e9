import { beforeAll, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { workerStatements } from '../../src/store/parts/workers.ts';
import { numbered, SQLITE } from '../../src/store/sqlite/engine.ts';
import { readyHeads } from '../../src/store/sqlite/sql/claims.ts';
import { EXECUTABLE, type Sandbox, sandbox } from '../support/queuectl.ts';
import type { Cost, StartRecord } from '../support/record-start.ts';

/*
 * These tests count what a worker does for one job, in ways that do not depend on the machine. The jobs run for so long that none is
 * claimed ahead. So with one slot, the settlement of each job and the claim of the next share a transaction. If a limit is exceeded, look for a statement, a commit or a file that the job
 * does not need. Raise the limit only if the job itself needs more, and lower it after it needs less.
 */
const MOST_COMMITS = 1.1;
const MOST_STATEMENTS = 17;
const MOST_CALLS = 19;
/** One sync for the commit. Now and then SQLite also copies the -wal into the database, which needs two. */
const MOST_SYNCS = 1.1;
/** The calls of the worker and of the frame on a file of the queue, by its name or by a descriptor. */
const MOST_SYSTEM_CALLS = 100;

/** How often a busy worker looks at its agenda depends on the machine, so the limits do not include these statements and calls. */
const STATEMENTS_OF_A_LOOK = 5;
const CALLS_OF_A_LOOK = 2;
/** A look with a free slot also reads the queues and the first ready job. */
const STATEMENTS_OF_A_FREE_SLOT = 2;

const JOBS = 100;
/** Jobs that run for less than 25 ms on average are claimed ahead. */
const COMMAND = 'sleep 0.03';
/** These tables grow with the number of jobs, so no statement of a job may read them whole. */
const GROWING_TABLE =
  /^SCAN (job|attempt|event|output|dependency|idempotency|tick|rollup)\b(?! USING (COVERING )?INDEX job_running)/;

const ROOT = resolve(import.meta.dir, '../..');
const STRACE = Bun.which('strace');

/** Returns the cost of one more job: a run with JOBS + 1 jobs minus a run with one job, divided by JOBS. */
const perJob = (many: number, one: number): number => (many - one) / JOBS;
/** Does the same for recorded workers. */
const perRecordedJob = (costOf: (record: StartRecord) => number): number =>
  perJob(costOf(manyJobs), costOf(oneJob));
const sum = (costs: Record<string, Cost>): number =>
  Object.values(costs).reduce((calls, cost) => calls + cost.calls, 0);
const commits = ({ executed }: StartRecord): number =>
  executed.filter((sql) => sql === 'BEGIN IMMEDIATE').length;
const looks = ({ statements }: StartRecord): number =>
  statements[numbered(workerStatements(SQLITE).stopOrder)]!.calls;
/** Each claim reads the first ready job, too. */
const looksWithFreeSlot = (record: StartRecord): number =>
  record.statements[readyHeads]!.calls - commits(record);

/** Adds jobs to a new store. No timer fires during the run, so that its length does not matter. */
async function addJobs(box: Sandbox, jobs: number): Promise<void> {
  for (const [key, value] of [
    ['lease', '1h'],
    ['heartbeat-interval', '10m'],
    ['poll-interval', '1h'],
  ])
    expect((await box.run(['config', 'set', key!, value!])).code).toBe(0);
  const added = await box.run(['enqueue', '--quiet', '--file', '-'], { stdin: `${COMMAND}\n`.repeat(jobs) });
  expect(added).toMatchObject({ code: 0 });
}

/** Runs a worker process with one slot, without a supervisor, until no job is left. */
async function drain(box: Sandbox, command: string[], env: Record<string, string> = {}): Promise<void> {
  const [program, ...args] = [...command, '__worker', '--drain', '--quiet'];
  const options = { cwd: ROOT, env: { ...process.env, QUEUECTL_HOME: box.home, ...env } };
  // The worker would stop at the end of its standard input, so that stays open.
  const worker = spawn(program!, args, { ...options, stdio: ['pipe', 'ignore', 'inherit'] });
  expect(await new Promise((done) => worker.once('exit', done))).toBe(0);
}

async function recordWorker(jobs: number): Promise<{ record: StartRecord; plans: string[] }> {
  const box = sandbox();
  try {
    await addJobs(box, jobs);
    const file = join(box.directory, 'record');
    const preload = join(ROOT, 'test/support/record-start.ts');
    const command = [process.execPath, '--no-install', '--preload', preload, join(ROOT, 'src/cli/main.ts')];
    await drain(box, command, { RECORD: file });
    expect(await box.json(['status'])).toMatchObject({ jobs: { completed: jobs } });
    const record: StartRecord = JSON.parse(readFileSync(file, 'utf8'));
    return { record, plans: plansOf(join(box.home, 'queue.db'), record) };
  } finally {
    await box.cleanup();
  }
}

/** Returns the steps of the query plans of all statements that ran for every few jobs, each with the start of its SQL text. */
function plansOf(db: string, { statements }: StartRecord): string[] {
  const connection = new DatabaseSync(db, { readOnly: true });
  try {
    const texts = Object.keys(statements).filter((text) => statements[text]!.calls >= JOBS / 4);
    return texts.flatMap((text) =>
      connection
        .prepare(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map(({ detail }) => `${detail}, in: ${text.slice(0, 60)}`),
    );
  } finally {
    connection.close();
  }
}

let oneJob: StartRecord;
let manyJobs: StartRecord;
let plans: string[];

beforeAll(async () => {
  ({ record: oneJob } = await recordWorker(1));
  ({ record: manyJobs, plans } = await recordWorker(JOBS + 1));
});

test('a job costs one commit, which settles it and claims the next one', () => {
  expect(perRecordedJob(commits)).toBeLessThanOrEqual(MOST_COMMITS);
});

test('a job runs no more statements than it needs', () => {
  const statements = (record: StartRecord) =>
    sum(record.statements) -
    STATEMENTS_OF_A_LOOK * looks(record) -
    STATEMENTS_OF_A_FREE_SLOT * looksWithFreeSlot(record);
  // A few statements belong to no job, such as those of the first job of a minute.
  expect(Math.round(perRecordedJob(statements))).toBeLessThanOrEqual(MOST_STATEMENTS);
});

test('a job makes no more calls of the file system and starts no more processes than it needs', () => {
  expect(manyJobs.calls.openSync!.calls).toBeGreaterThanOrEqual(JOBS);
  const calls = (record: StartRecord) => sum(record.calls) - CALLS_OF_A_LOOK * looks(record);
  expect(perRecordedJob(calls)).toBeLessThanOrEqual(MOST_CALLS);
});

test('no statement of a job scans a table that grows, and none sorts', () => {
  expect(plans.join('\n')).toContain('USING COVERING INDEX job_ready');
  expect(plans.filter((step) => GROWING_TABLE.test(step) || step.includes('TEMP B-TREE'))).toEqual([]);
});

/** Returns the numbers of syncs and of calls on files of the queue that a traced worker and its frames make. */
async function traceWorker(jobs: number): Promise<{ syncs: number; calls: number }> {
  const box = sandbox();
  try {
    await addJobs(box, jobs);
    const file = join(box.directory, 'trace');
    await drain(box, [STRACE!, '-f', '-y', '-qq', '-e', 'trace=%file,%desc', '-o', file, EXECUTABLE]);
    const lines = readFileSync(file, 'utf8').split('\n');
    const calls = lines.filter((line) => line.includes(box.home) && !/ (execve\(|<\.\.\. )/.test(line));
    return { syncs: calls.filter((line) => /\bf(data)?sync\(/.test(line)).length, calls: calls.length };
  } finally {
    await box.cleanup();
  }
}

test.skipIf(STRACE === null)(
  'a job makes no more syncs and system calls on its files than it needs',
  async () => {
    const [one, many] = [await traceWorker(1), await traceWorker(JOBS + 1)];
    expect(perJob(many.syncs, one.syncs)).toBeLessThanOrEqual(MOST_SYNCS);
    expect(perJob(many.calls, one.calls)).toBeLessThanOrEqual(MOST_SYSTEM_CALLS);
  },
);
