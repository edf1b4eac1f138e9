import { join } from 'node:path';
import { type Connection, connect } from '../../src/store/sqlite/connection.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { OpenedForTest } from '../conformance/topic.ts';
import { inTempDir, makeTempDir } from './temp-dir.ts';

/** Opens a new SQLite store in a directory of its own. */
export async function openTempSqlite(partsOnDemand = false): Promise<OpenedForTest> {
  const dir = makeTempDir();
  const open = async (actor: string | null = null): Promise<Store> =>
    (await openSqlite(join(dir.path, 'queue.db'), { actor, partsOnDemand })).store;
  return { store: await open(), reopen: open, cleanup: dir.remove };
}

/** Runs a test on a new store, with a connection to its file that can read what the store does not return. */
export function withSqlite(work: (store: Store, connection: Connection) => Promise<void>): Promise<void> {
  return inTempDir(async (dir) => {
    const path = join(dir, 'queue.db');
    const { store } = await openSqlite(path);
    const connection = await connect(path);
    try {
      await work(store, connection);
    } finally {
      connection.close();
      await store.close();
    }
  });
}
