import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { SCHEMA_VERSION } from '../../src/store/schema/version.ts';
import { freshDatabase } from '../../src/store/sqlite/migrate.ts';
import { openDatabase } from '../support/database.ts';
import type { Violation } from './checker.ts';

/** Creates a database of the current version with this many waiting jobs, for the next version to migrate. */
export function makeOldStore(path: string, jobs: number): void {
  rmSync(dirname(path), { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const db = freshDatabase(path);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec(`INSERT INTO queue (name) VALUES ('default');
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${jobs})
    INSERT INTO job (id, command, queue, priority, max_retries, cwd, state, phase, created_at, updated_at, due_at)
    SELECT 'old' || i, 'true', 1, 0, 3, '/', 'pending', 'ready', 1, 1, 1 FROM n;
    INSERT INTO counter (queue, state, jobs) VALUES (1, 'pending', ${jobs})`);
  db.close();
}

/** Checks that the schema is the new one, or completely the old one if that is allowed, and that no job is missing. */
export function checkMigration(path: string, allowed: 'either' | 'new', jobs: number): Violation[] {
  const db = openDatabase(path);
  try {
    const one = (sql: string): unknown => Object.values(db.prepare(sql).get()!)[0];
    const version = one('PRAGMA user_version');
    const wrong: string[] = [];
    const views = one("SELECT count(*) FROM sqlite_schema WHERE type = 'view'");
    // The migration in test/support/next-version.ts adds the column `made_up`.
    const newColumns = one("SELECT count(*) FROM pragma_table_info('job') WHERE name = 'made_up'");
    const isOld = version === SCHEMA_VERSION && newColumns === 0;
    const isNew = version === SCHEMA_VERSION + 1 && newColumns === 1;
    if (views !== 5 || !(isNew || (isOld && allowed === 'either')))
      wrong.push(`version ${version} with ${newColumns} new columns and ${views} views`);
    if (one('PRAGMA integrity_check') !== 'ok') wrong.push('integrity_check');
    if (db.prepare('PRAGMA foreign_key_check').all().length > 0) wrong.push('foreign keys');
    if (one('SELECT count(*) FROM job') !== jobs) wrong.push('jobs are missing');
    return wrong.map((what) => ({ kind: 'invariant', what }));
  } finally {
    db.close();
  }
}
