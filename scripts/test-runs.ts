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

/** Throws if the list names a file or a title that does not exist, which would exclude nothing. */
function refuseUnknownEntries(): void {
  for (const [file, excluded] of Object.entries(SQLITE_ONLY)) {
    if (!existsSync(file)) throw new Error(`test/sqlite-only.ts: there is no file ${file}`);
    const text = readFileSync(file, 'utf8');
    const titles = typeof excluded === 'string' ? [] : Object.keys(excluded);
    for (const title of titles)
      if (!text.includes(title)) throw new Error(`test/sqlite-only.ts: ${file} has no test '${title}'`);
  }
}
