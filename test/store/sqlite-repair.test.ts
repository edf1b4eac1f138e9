/** Tests the repair of real stores with damaged trees: rows are found page by page, and none is invented. */
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
import { childrenOf, PAGE_BYTES } from '../../src/store/sqlite/care/pages.ts';
import { repairSqlite } from '../../src/store/sqlite/care/repair.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { SAVED_TABLES } from '../../src/store/sqlite/tables.ts';
import { claim, ending, jobSpec, NOW, newWorker, succeeded } from '../support/jobs.ts';
import { randomFrom } from '../support/random.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const JOBS = 12_000;
/** This many jobs were deleted. Their pages are free but still contain them. */
const DELETED = 600;

const dir = makeTempDir();
const base = join(dir.path, 'base.db');
const before = join(dir.path, 'before.db');
let original: Map<string, string>;

/** Returns every row of a table as JSON, by its key. */
function rowsOf(path: string, table: string): Map<string, string> {
  const db = new DatabaseSync(path, { readOnly: true });
  const { key } = SAVED_TABLES.find((one) => one.name === table)!;
  const rows = db.prepare(`SELECT * FROM ${table}`).all() as Record<string, unknown>[];
  db.close();
  return new Map(rows.map((row) => [key.map((column) => row[column]).join(' '), JSON.stringify(row)]));
}

/** Returns the columns of a job that do not depend on other rows. */
function withoutDerived(row: string): string {
  const { number, id, command, tags, created_at, depends_on, start } = JSON.parse(row);
  return JSON.stringify({ number, id, command, tags, created_at, depends_on, start });
}

const versionOf = (row: string): string[] => [withoutDerived(row), JSON.parse(row).attempts];

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
  const { store: first } = await openSqlite(base);
  const specs = Array.from({ length: JOBS }, (_, i) =>
    jobSpec(`job${i}`, {
      command: `echo ${i} ${'x'.repeat(i % 40 === 0 ? 9000 : 150)}`,
      tags: i % 3 === 0 ? { n: String(i) } : {},
      stdin: i % 60 === 7 ? `input ${i} `.repeat(200) : null,
      dependsOn: i % 20 === 3 ? [{ id: `job${i - 1}`, on: 'any' }] : [],
    }),
  );
  for (let i = 0; i < JOBS; i += 1000) await first.insert(specs.slice(i, i + 1000), NOW);
  await first.close();
  copyFileSync(base, before);
  const { store } = await openSqlite(base);
  await store.register(newWorker('w1'));
  for (const job of await claim(store, { limit: 400 })) {
    const kept = Buffer.from(`output of ${job.id}\n`.repeat(60));
    await store.settle(
      ending(job, succeeded, NOW + 1000, { output: { bytes: kept.length, truncated: false, kept } }),
    );
  }
  await store.unregister('w1');
  const gone = Array.from({ length: DELETED }, (_, i) => `job${JOBS - DELETED + i}`);
  await store.remove(gone, STATES, NOW + 2000);
  await store.close();
  original = rowsOf(base, 'job');
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
  copyFileSync(base, path);
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

test('after damage to the root page of the jobs every job is recovered and reported as loose', async () => {
  const { report, rows } = (await repairAfter((path) => zeroPage(path, rootPage(path, 'job'))))!;
  expect(rows('job')).toEqual(original);
  expect(report.loose).toEqual({ job: original.size });
  expect(report.lost).toEqual([expect.stringContaining('job after number 0')]);
  for (const table of ['attempt', 'output', 'stdin', 'dependency'])
    expect(rows(table)).toEqual(rowsOf(base, table));
});

test('a row with JSON of the wrong type is not recovered', async () => {
  const { report, rows } = (await repairAfter((path) => {
    const db = new DatabaseSync(path);
    // These values are valid JSON of the wrong type, as a flipped bit could produce.
    db.exec("UPDATE job SET depends_on = '0' WHERE number = 2; UPDATE job SET tags = '[]' WHERE number = 3");
    db.exec("UPDATE job SET argv = '{}' WHERE number = 5");
    db.close();
  }))!;
  expect(rows('job').size).toBe(original.size - 3);
  for (const column of ['depends_on', 'tags', 'argv'])
    expect(report.lost.join()).toContain(`its ${column} is unreadable`);
});

test('jobs are recovered after damage to a page in the middle of their tree', async () => {
  const inner = childrenOf(readPage(base, rootPage(base, 'job')), 2);
  expect(childrenOf(readPage(base, inner[1]!), 2).length).toBeGreaterThan(5);
  const { report, rows } = (await repairAfter((path) => zeroPage(path, inner[1]!)))!;
  expect(rows('job')).toEqual(original);
  expect(report.loose.job).toBeGreaterThan(50);
  expect(report.loose.job).toBeLessThan(original.size);
});

test('jobs are recovered after damage to the root pages of jobs and queues', async () => {
  const harm = (path: string): void => {
    for (const table of ['job', 'queue']) zeroPage(path, rootPage(path, table));
  };
  const { report, rows } = (await repairAfter(harm))!;
  expect(rows('job')).toEqual(original);
  expect(report.how).toContain('page by page');
});

test('without a schema and the roots of jobs and queues, jobs are recovered and the loss is reported', async () => {
  const harm = (path: string): void => {
    const first = [1, ...childrenOf(readPage(path, 1), 1)];
    for (const number of [rootPage(path, 'job'), rootPage(path, 'queue'), ...first]) zeroPage(path, number);
  };
  const { report, rows } = (await repairAfter(harm))!;
  const found = rows('job');
  const older = rowsOf(before, 'job');
  expect(
    [...original].filter(
      ([number, row]) => withoutDerived(found.get(number) ?? '{}') !== withoutDerived(row),
    ),
  ).toEqual([]);
  // The list of free pages was lost with page 1, so deleted jobs may come back. They are counted as loose.
  expect(
    [...found].filter(([number, row]) => withoutDerived(row) !== withoutDerived(older.get(number)!)),
  ).toEqual([]);
  expect(report.how).toBe('with a new schema, page by page');
  expect(report.loose.job).toBe(found.size);
  expect(report.lost.join()).toContain('the contents of destroyed pages');
});

for (const table of ['attempt', 'output', 'stdin', 'event'])
  test(`after damage to the root page of ${table} all its rows are recovered, and no row of another table`, async () => {
    const { report, rows } = (await repairAfter((path) => zeroPage(path, rootPage(path, table))))!;
    for (const { name } of SAVED_TABLES)
      expect({ name, rows: rows(name) }).toEqual({ name, rows: rowsOf(base, name) });
    expect(Object.keys(report.loose)).toEqual([table]);
  });

test('rows in the damaged root page of dependency are lost and reported', async () => {
  const { report, rows } = (await repairAfter((path) => zeroPage(path, rootPage(path, 'dependency'))))!;
  const [were, are] = [rowsOf(base, 'dependency'), rows('dependency')];
  expect(are.size).toBeGreaterThan(were.size - 20);
  for (const [key, row] of are) expect(row).toBe(were.get(key)!);
  expect(report.lost.join()).toContain('dependency');
});

/** Makes the list of free pages unreadable, so that nothing shows which pages are free. */
function loseFreeList(path: string): void {
  const trunk = readPage(path, 1).readUInt32BE(32);
  expect(trunk).toBeGreaterThan(0);
  writePage(path, trunk, Buffer.alloc(PAGE_BYTES, 0xa5));
}

test('deleted rows do not come back as long as the free list or the index of ids can be read', async () => {
  const harms = [
    (path: string) => zeroPage(path, rootPage(path, 'sqlite_autoindex_job_1')),
    (path: string) => loseFreeList(path),
  ];
  for (const harm of harms) {
    const { report, rows } = (await repairAfter((path) => {
      harm(path);
      zeroPage(path, rootPage(path, 'job'));
    }))!;
    expect(rows('job')).toEqual(original);
    expect(report.loose.job).toBe(original.size);
  }
});

test('of several versions of a row the newest is recovered, once, and reported as loose', async () => {
  const older = rowsOf(before, 'job');
  const { report, rows } = (await repairAfter((path) => {
    for (const name of ['job', 'sqlite_autoindex_job_1']) zeroPage(path, rootPage(path, name));
    loseFreeList(path);
    // All pages of the older file follow those of the current one.
    const end = statSync(path).size / PAGE_BYTES;
    writePage(path, end + 1, readFileSync(before));
    const first = readPage(path, 1);
    first.writeUInt32BE(statSync(path).size / PAGE_BYTES, 28);
    writePage(path, 1, first);
  }))!;
  const found = rows('job');
  expect(report.loose.job).toBe(found.size);
  const wanted = (number: string): string => String(versionOf((original.get(number) ?? older.get(number))!));
  expect([...found].filter(([number, row]) => String(versionOf(row)) !== wanted(number))).toEqual([]);
  expect([...original.keys()].filter((number) => !found.has(number))).toEqual([]);
});

test('the repair of random damage neither throws nor invents rows', async () => {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 1_000_000));
  console.info(`repair of noise: TEST_SEED=${seed}`);
  const random = randomFrom(seed);
  const below = (most: number): number => Math.floor(random() * most);
  const known = new Set([...original.values(), ...rowsOf(before, 'job').values()].map(withoutDerived));
  for (let round = 0; round < 2; round++) {
    const result = await repairAfter((path) => {
      zeroPage(path, rootPage(path, 'job'));
      const pages = statSync(path).size / PAGE_BYTES;
      for (let i = 0; i < pages / 2; i++) {
        const number = 3 + below(pages - 2);
        const page = readPage(base, number);
        // Pages of text alone are skipped, because a change there cannot be noticed.
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
    expect([...rows.values()].filter((row) => !known.has(withoutDerived(row)))).toEqual([]);
  }
});
