import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { foldAfterWrites, foldAll } from '../../src/store/parts/log.ts';
import { connect } from '../../src/store/sqlite/connection.ts';
import { sqliteEngine } from '../../src/store/sqlite/engine.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { recordEvent, type Steps } from '../../src/store/steps.ts';
import { claim, jobSpec, NOW } from '../support/jobs.ts';
import { until } from '../support/queuectl.ts';
import { withSqlite } from '../support/sqlite.ts';
import { inTempDir } from '../support/temp-dir.ts';

test('a log of many rows is folded soon after a write, and not at the pace of single writes', () =>
  withSqlite(async (_, db) => {
    const engine = sqliteEngine(db);
    const stop = foldAfterWrites(engine, db.onWritten, 1000);
    await engine.write('note', function* (): Steps<void> {
      for (let i = 0; i < 20_000; i++)
        yield* recordEvent(engine, { kind: 'queue-deleted', detail: { queue: 'x' } });
    });
    const isFolded = () => db.get('SELECT 1 FROM log') === undefined;
    await until(isFolded, 'the log is folded', 8000);
    stop();
  }));

test('a command whose log is damaged still closes its store', () =>
  inTempDir(async (dir) => {
    const path = join(dir, 'queue.db');
    await (await openSqlite(path)).store.close();
    const connection = await connect(path);
    connection.exec('DROP TABLE log');
    connection.close();
    const { store } = await openSqlite(path, { partsOnDemand: true });
    expect(await store.schedules()).toEqual([]);
    await store.close();
    await store.close();
  }));

test('a failed job without a run, which a repair may leave, is counted once after its claim', () =>
  withSqlite(async (store, db) => {
    await store.insert([jobSpec('a')], NOW);
    const engine = sqliteEngine(db);
    await engine.write('fold', () => foldAll(engine));
    db.run("UPDATE job SET state = 'failed'");
    db.run("UPDATE counter SET state = 'failed'");
    await claim(store, {}, NOW);
    expect(await store.counts()).toEqual([{ queue: 'default', state: 'processing', jobs: 1 }]);
  }));

test('a job whose size is out of range is held, so that others are claimed, and can be deleted', () =>
  withSqlite(async (store, db) => {
    await store.insert([jobSpec('a'), jobSpec('b')], NOW);
    db.exec('PRAGMA ignore_check_constraints = 1');
    db.run("UPDATE job SET bytes = 1152921504606846977 WHERE id = 'a'");
    expect((await claim(store, { limit: 2 }, NOW)).map((job) => job.id)).toEqual(['b']);
    expect((await store.remove(['a'], ['pending'], NOW)).ids).toEqual(['a']);
  }));
