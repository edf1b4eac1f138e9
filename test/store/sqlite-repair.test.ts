/** Tests that the repair of a store with damaged trees finds rows page by page and invents none. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { STATES } from '../../src/core/job.ts';
import type { RepairReport } from '../../src/store/contract/file-care.ts';
import { holdSqlite } from '../../src/store/sqlite/care/hold.ts';
import { childPagesOf, PAGE_BYTES } from '../../src/store/sqlite/care/pages.ts';
import { repairSqlite } from '../../src/store/sqlite/care/repair.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { SAVED_TABLES } from '../../src/store/tables.ts';
import { claim, ending, jobSpec, NOW, newWorker, succeeded } from '../support/jobs.ts';
import { randomFrom } from '../support/random.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const JOB_COUNT = 12_000;
/** The number of deleted jobs. Their pages are free but still contain them. */
const DELETED_COUNT = 600;

const dir = makeTempDir();
const originalDb = join(dir.path, 'base.db');
const olderDb = join(dir.path, 'before.db');
let originalJobs: Map<string, string>;

/** Returns every row of a table as JSON, by its key. */
function rowsOf(path: string, table: string): Map<string, string> {
  const db = new DatabaseSync(path, { readOnly: true });
  const { key, derivedColumns } = SAVED_TABLES.find((one) => one.name === table)!;
  const rows = db.prepare(`SELECT * FROM ${table}`).all() as Record<string, unknown>[];
  db.close();
  // A repair computes these columns again, and finds better values than the jobs that have ended left behind.
  for (const row of rows) for (const column of derivedColumns) delete row[column];
  return new Map(rows.map((row) => [key.map((column) => row[column]).join(' '), JSON.stringify(row)]));
}

/** Returns the columns of a job that do not depend on other rows. */
function ownColumns(row: string): string {
  const { number, id, command, tags, created_at, depends_on, start } = JSON.parse(row);
  return JSON.stringify({ number, id, command, tags, created_at, depends_on, start });
}

/** Returns the columns of a job that tell its old and its new version apart. */
const versionOf = (row: string): string[] => [ownColumns(row), JSON.parse(row).attempts];

const rootPage = (path: string, name: string): number => {
  const db = new DatabaseSync(path, { readOnly: true });
  const row = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name);
  db.close();
  return Number(row!.rootpage);
};

function readPage(path: string, number: number): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  const file = openSync(path, 'r');
  readSync(file, page, 0, PAGE_BYTES, (number - 1) * PAGE_BYTES);
  closeSync(file);
  return page;
}

function writePage(path: string, number: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, (number - 1) * PAGE_BYTES);
  closeSync(file);
}

const zeroPage = (path: string, number: number): void => writePage(path, number, Buffer.alloc(PAGE_BYTES));

beforeAll(async () => {
  const { store: first } = await openSqlite(originalDb);
  const specs = Array.from({ length: JOB_COUNT }, (_, i) =>
    jobSpec(`job${i}`, {
      command: `echo ${i} ${'x'.repeat(i % 40 === 0 ? 9000 : 150)}`,
      tags: i % 3 === 0 ? { n: String(i) } : {},
      stdin: i % 60 === 7 ? `input ${i} `.repeat(200) : null,
      dependsOn: i % 20 === 3 ? [{ id: `job${i - 1}`, on: 'any' }] : [],
    }),
  );
  for (let i = 0; i < JOB_COUNT; i += 1000) await first.insert(specs.slice(i, i + 1000), NOW);
  await first.close();
  copyFileSync(originalDb, olderDb);
  const { store } = await openSqlite(originalDb);
  await store.register(newWorker('w1'));
  for (const job of await claim(store, { limit: 400 })) {
    const kept = Buffer.from(`output of ${job.id}\n`.repeat(60));
    await store.settle(
      ending(job, succeeded, NOW + 1000, { output: { bytes: kept.length, truncated: false, kept } }),
    );
  }
  await store.unregister('w1');
  const gone = Array.from({ length: DELETED_COUNT }, (_, i) => `job${JOB_COUNT - DELETED_COUNT + i}`);
  await store.remove(gone, STATES, NOW + 2000);
  await store.close();
  originalJobs = rowsOf(originalDb, 'job');
});
afterAll(() => dir.remove());

/** Damages a copy and repairs it. Returns the report and the rows of the new file, or null if nothing was recovered. */
async function repairAfter(
  harm: (path: string) => void,
): Promise<{ report: RepairReport; rows(table: string): Map<string, string> } | null> {
  const path = join(dir.path, 'harmed.db');
  const draft = join(dir.path, 'draft.db');
  for (const file of [path, draft])
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
  copyFileSync(originalDb, path);
  harm(path);
  const held = await holdSqlite(path);
  const settleLost = () => () => {
    throw new Error('nothing was running');
  };
  const steps = { now: Date.now, knownEpoch: () => null, settleLost };
  const report = await repairSqlite(held, draft, steps).finally(held.unlock);
  if (report === null) return null;
  expect(report.problems).toEqual([]);
  return { report, rows: (table) => rowsOf(draft, table) };
}

test('after damage to the root page of job every job is recovered and reported as loose', async () => {
  const { report, rows } = (await repairAfter((path) => zeroPage(path, rootPage(path, 'job'))))!;
  expect(rows('job')).toEqual(originalJobs);
  expect(report.loose).toEqual({ job: originalJobs.size });
  expect(report.lost).toEqual([expect.stringContaining('job after number 0')]);
  for (const table of ['attempt', 'output', 'stdin', 'dependency'])
    expect(rows(table)).toEqual(rowsOf(originalDb, table));
});

test('a job with JSON of the wrong type is not recovered but reported', async () => {
  const { report, rows } = (await repairAfter((path) => {
    const db = new DatabaseSync(path);
    // These values are valid JSON of the wrong type, as a flipped bit could produce.
    db.exec("UPDATE job SET depends_on = '0' WHERE number = 2; UPDATE job SET tags = '[]' WHERE number = 3");
    db.exec("UPDATE job SET argv = '{}' WHERE number = 5");
    db.close();
  }))!;
  expect(rows('job').size).toBe(originalJobs.size - 3);
  for (const column of ['depends_on', 'tags', 'argv'])
    expect(report.lost.join()).toContain(`its ${column} is unreadable`);
});

test('all jobs are recovered after damage to a page in the middle of their tree', async () => {
  const inner = childPagesOf(readPage(originalDb, rootPage(originalDb, 'job')), 2);
  expect(childPagesOf(readPage(originalDb, inner[1]!), 2).length).toBeGreaterThan(5);
  const { report, rows } = (await repairAfter((path) => zeroPage(path, inner[1]!)))!;
  expect(rows('job')).toEqual(originalJobs);
  expect(report.loose.job).toBeGreaterThan(50);
  expect(report.loose.job).toBeLessThan(originalJobs.size);
});

test('all jobs are recovered after damage to the root pages of job and queue', async () => {
  const harm = (path: string): void => {
    for (const table of ['job', 'queue']) zeroPage(path, rootPage(path, table));
  };
  const { report, rows } = (await repairAfter(harm))!;
  expect(rows('job')).toEqual(originalJobs);
  expect(report.how).toContain('page by page');
});

test('all jobs are recovered, as loose, after damage to the schema and the root pages of job and queue', async () => {
  const harm = (path: string): void => {
    const first = [1, ...childPagesOf(readPage(path, 1), 1)];
    for (const number of [rootPage(path, 'job'), rootPage(path, 'queue'), ...first]) zeroPage(path, number);
  };
  const { report, rows } = (await repairAfter(harm))!;
  const found = rows('job');
  const older = rowsOf(olderDb, 'job');
  expect(
    [...originalJobs].filter(([number, row]) => ownColumns(found.get(number) ?? '{}') !== ownColumns(row)),
  ).toEqual([]);
  // The list of free pages was lost with page 1, so deleted jobs may come back. They are counted as loose.
  expect([...found].filter(([number, row]) => ownColumns(row) !== ownColumns(older.get(number)!))).toEqual(
    [],
  );
  expect(report.how).toBe('with a new schema, page by page');
  expect(report.loose.job).toBe(found.size);
  expect(report.lost.join()).toContain('the contents of destroyed pages');
});

for (const table of ['attempt', 'output', 'stdin', 'event'])
  test(`after damage to the root page of ${table} all its rows are recovered, and no row of another table`, async () => {
    const { report, rows } = (await repairAfter((path) => zeroPage(path, rootPage(path, table))))!;
    for (const { name } of SAVED_TABLES)
      expect({ name, rows: rows(name) }).toEqual({ name, rows: rowsOf(originalDb, name) });
    expect(Object.keys(report.loose)).toEqual([table]);
  });

test('damage to the root page of dependency loses fewer than 20 rows, changes none and is reported', async () => {
  const { report, rows } = (await repairAfter((path) => zeroPage(path, rootPage(path, 'dependency'))))!;
  const [before, after] = [rowsOf(originalDb, 'dependency'), rows('dependency')];
  expect(after.size).toBeGreaterThan(before.size - 20);
  for (const [key, row] of after) expect(row).toBe(before.get(key)!);
  expect(report.lost.join()).toContain('dependency');
});

/** Makes the list of free pages unreadable, so that nothing shows which pages are free. */
function destroyFreeList(path: string): void {
  const trunk = readPage(path, 1).readUInt32BE(32);
  expect(trunk).toBeGreaterThan(0);
  writePage(path, trunk, Buffer.alloc(PAGE_BYTES, 0xa5));
}

test('deleted jobs do not come back as long as the free list or the index of ids can be read', async () => {
  const harms = [
    (path: string) => zeroPage(path, rootPage(path, 'sqlite_autoindex_job_1')),
    (path: string) => destroyFreeList(path),
  ];
  for (const harm of harms) {
    const { report, rows } = (await repairAfter((path) => {
      harm(path);
      zeroPage(path, rootPage(path, 'job'));
    }))!;
    expect(rows('job')).toEqual(originalJobs);
    expect(report.loose.job).toBe(originalJobs.size);
  }
});

test('of several versions of a job only the newest is recovered, and it is reported as loose', async () => {
  const older = rowsOf(olderDb, 'job');
  const { report, rows } = (await repairAfter((path) => {
    for (const name of ['job', 'sqlite_autoindex_job_1']) zeroPage(path, rootPage(path, name));
    destroyFreeList(path);
    // All pages of the older file are appended to the current one.
    const end = statSync(path).size / PAGE_BYTES;
    writePage(path, end + 1, readFileSync(olderDb));
    const first = readPage(path, 1);
    first.writeUInt32BE(statSync(path).size / PAGE_BYTES, 28);
    writePage(path, 1, first);
  }))!;
  const found = rows('job');
  expect(report.loose.job).toBe(found.size);
  const wanted = (number: string): string =>
    String(versionOf((originalJobs.get(number) ?? older.get(number))!));
  expect([...found].filter(([number, row]) => String(versionOf(row)) !== wanted(number))).toEqual([]);
  expect([...originalJobs.keys()].filter((number) => !found.has(number))).toEqual([]);
});

test('the repair of random damage neither throws nor invents jobs', async () => {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 1_000_000));
  console.info(`repair of noise: TEST_SEED=${seed}`);
  const random = randomFrom(seed);
  const below = (most: number): number => Math.floor(random() * most);
  const known = new Set([...originalJobs.values(), ...rowsOf(olderDb, 'job').values()].map(ownColumns));
  for (let round = 0; round < 2; round++) {
    const result = await repairAfter((path) => {
      zeroPage(path, rootPage(path, 'job'));
      const pages = statSync(path).size / PAGE_BYTES;
      for (let i = 0; i < pages / 2; i++) {
        const number = 3 + below(pages - 2);
        const page = readPage(originalDb, number);
        // Pages that contain only text are skipped, because a change there cannot be noticed.
        if (![2, 5, 10, 13].includes(page[0]!)) continue;
        // The page is either random or has moved cells. Its rows must be complete or missing.
        if (i % 2 === 0)
          for (let at = 0; at < PAGE_BYTES; at++)
            page[at] = at === 0 ? [2, 5, 10, 13][below(4)]! : below(256);
        else for (let at = 3; at < 40; at++) page[at] = below(256);
        writePage(path, number, page);
      }
    });
    const rows = result?.rows('job') ?? new Map();
    expect([...rows.values()].filter((row) => !known.has(ownColumns(row)))).toEqual([]);
  }
});
