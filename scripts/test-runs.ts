/** Decides which test files run on which store, and which of the runs belong to `npm test`. */
import { existsSync, readFileSync } from 'node:fs';
import { SQLITE_ONLY } from '../test/sqlite-only.ts';

/** One run of a test file. */
export interface TestRun {
  file: string;
  /** The file, and the store if it is not SQLite. */
  name: string;
  store: 'sqlite' | 'postgres';
  /** Matches the titles of the tests to run. Null means all. */
  pattern: string | null;
}

const BOTH_STORES = /^test\/(acceptance|http|ui)\//;

/** Files that `npm test` runs on PostgreSQL, too, each for a part of the store that has SQL of its own there. */
const QUICK_ON_POSTGRES: Record<string, string> = {
  'test/acceptance/at-most-once.test.ts': 'settlement, and recovery of jobs that must not be repeated',
  'test/acceptance/concurrency.test.ts': 'claims with limits',
  'test/acceptance/crash.test.ts': 'killed workers, adoption and leases',
  'test/acceptance/idempotency.test.ts': 'the function that enqueues',
  'test/acceptance/job-and-queue-actions.test.ts': 'every action on jobs and queues',
};

/** Runs that only `npm run test:all` makes, each with the reason why `npm test` can do without it. */
const LONG_RUNS: [name: RegExp, reason: string][] = [
  [
    /^test\/faults\/controls-/,
    'tests the fault tests, and builds a program without one safeguard for each control',
  ],
  [/ on PostgreSQL$/, 'repeats a run on SQLite, and the conformance suite passes on both stores'],
];

/** Returns whether `npm test` makes this run. `npm run test:all` makes all of them. */
export function isQuick({ file, name }: TestRun): boolean {
  if (name !== file && file in QUICK_ON_POSTGRES) return true;
  return LONG_RUNS.every(([long]) => !long.test(name));
}

/** Returns the runs of these test files: each on SQLite, and those of the folders above also on PostgreSQL. */
export function testRuns(files: string[]): TestRun[] {
  refuseUnknownEntries();
  return files.flatMap((file) => {
    const onSqlite: TestRun = { file, name: file, store: 'sqlite', pattern: null };
    const excluded = SQLITE_ONLY[file];
    if (!BOTH_STORES.test(file) || typeof excluded === 'string') return [onSqlite];
    const pattern = excluded === undefined ? null : patternWithout(Object.keys(excluded));
    return [onSqlite, { file, name: `${file} on PostgreSQL`, store: 'postgres', pattern }];
  });
}

/** Returns a pattern for all titles that do not contain one of these texts. */
function patternWithout(texts: string[]): string {
  const escaped = texts.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return `^(?!.*(?:${escaped.join('|')}))`;
}

/** Throws if a list names a file or a title that does not exist, and would change nothing. */
function refuseUnknownEntries(): void {
  for (const file of Object.keys(QUICK_ON_POSTGRES))
    if (!existsSync(file)) throw new Error(`scripts/test-runs.ts: there is no file ${file}`);
  for (const [file, excluded] of Object.entries(SQLITE_ONLY)) {
    if (!existsSync(file)) throw new Error(`test/sqlite-only.ts: there is no file ${file}`);
    const text = readFileSync(file, 'utf8');
    const titles = typeof excluded === 'string' ? [] : Object.keys(excluded);
    for (const title of titles)
      if (!text.includes(title)) throw new Error(`test/sqlite-only.ts: ${file} has no test '${title}'`);
  }
}
