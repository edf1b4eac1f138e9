import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { connect } from '../../src/store/sqlite/connection.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { isSafeSqliteVersion } from '../../src/store/sqlite/schema-version.ts';
import { claimRequest, jobSpec, NOW } from '../support/jobs.ts';
import { withSqlite } from '../support/sqlite.ts';
import { inTempDir } from '../support/temp-dir.ts';

describe('connection', () => {
  test('every connection syncs its commits, checks foreign keys and waits for locks', () =>
    inTempDir(async (dir) => {
      const path = join(dir, 'queue.db');
      // openSqlite creates the file in the first round and finds it in the second. The settings must be the same in both.
      for (let i = 0; i < 2; i++) {
        await (await openSqlite(path)).store.close();
        const connection = await connect(path);
        expect(connection.get('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
        expect(connection.pragma('synchronous')).toBe(2);
        expect(connection.pragma('foreign_keys')).toBe(1);
        expect(connection.pragma('busy_timeout')).toBeGreaterThan(0);
        connection.close();
      }
    }));

  test('of two connections to a new file that lock out others, none waits for the other', () =>
    inTempDir(async (dir) => {
      const path = join(dir, 'queue.db');
      const connections = [await connect(path, { alone: true }), await connect(path, { alone: true })];
      for (const one of connections) one.get('SELECT count(*) AS tables FROM sqlite_schema');
      const start = performance.now();
      for (const one of connections) await expect(one.useWal()).rejects.toMatchObject({ code: 'store-busy' });
      // With the usual patience it would be half a minute for each.
      expect(performance.now() - start).toBeLessThan(20_000);
      for (const one of connections) one.close();
    }));

  test('foreign keys are enforced', () =>
    withSqlite(async (_, connection) => {
      expect(() => connection.run("INSERT INTO output (attempt, bytes) VALUES (99, x'00')")).toThrow(
        /FOREIGN KEY/,
      );
    }));

  test('a write happens completely or not at all', () =>
    withSqlite(async (store, connection) => {
      const broken = connection.write('set', () => {
        connection.run("INSERT INTO setting (key, value) VALUES ('a', '1')");
        throw new Error('in the middle');
      });
      await expect(broken).rejects.toThrow('in the middle');
      expect(await store.settings()).toEqual(new Map());
    }));

  test('a write holds the lock from its start, before it has changed anything', () =>
    withSqlite(async (_, connection) => {
      const other = await connect(connection.path);
      await connection.write('set', () => {
        expect(() => other.exec('BEGIN IMMEDIATE')).toThrow(/locked/);
      });
      other.close();
    }));

  test('a write waits for another writer instead of failing', () =>
    withSqlite(async (store, connection) => {
      connection.exec('BEGIN IMMEDIATE');
      const waiting = store.insert([jobSpec('a')], NOW);
      // This read returns after the write has found the database locked.
      expect(await store.get('a')).toBeNull();
      connection.exec('COMMIT');
      expect(await waiting).toHaveLength(1);
      expect((await store.get('a'))?.id).toBe('a');
    }));

  test('a claim with ifFree gives up while another process writes, and takes the job after that', () =>
    withSqlite(async (store, connection) => {
      await store.insert([jobSpec('a')], NOW);
      connection.exec('BEGIN IMMEDIATE');
      const busy = await store.claim(claimRequest({ ifFree: true }), NOW);
      expect(busy).toMatchObject({ wasBusy: true, jobs: [], settled: [] });
      connection.exec('COMMIT');
      const free = await store.claim(claimRequest({ ifFree: true }), NOW);
      expect(free.wasBusy).toBeUndefined();
      expect(free.jobs.map((job) => job.id)).toEqual(['a']);
    }));

  test('the schema refuses impossible states', () =>
    withSqlite(async (store, connection) => {
      await store.insert([jobSpec('a')], NOW);
      for (const change of [
        "state = 'running'",
        "state = 'processing'",
        "state = 'completed', phase = 'ended', due_at = NULL",
        "worker_id = 'w1'",
        'due_at = NULL',
      ]) {
        expect(() => connection.exec(`UPDATE job SET ${change}`)).toThrow(/CHECK/);
      }
    }));
});

describe('isSafeSqliteVersion', () => {
  test.each([
    ['3.51.3', true],
    ['3.51.4', true],
    ['3.51.10', true],
    ['3.52.0', true],
    ['3.52', true],
    ['3.100.0', true],
    ['4.0.0', true],
    ['3.51.2', false],
    ['3.51.0', false],
    ['3.51', false],
    ['3.50.9', false],
    ['3.9.100', false],
    ['2.99.99', false],
  ])('for SQLite %s returns %p', (version, isSafe) => {
    expect(isSafeSqliteVersion(version)).toBe(isSafe);
  });

  test('the SQLite of this runtime is safe', () =>
    withSqlite(async (_, connection) => {
      expect(isSafeSqliteVersion(String(connection.get('SELECT sqlite_version() AS version')?.version))).toBe(
        true,
      );
    }));
});
