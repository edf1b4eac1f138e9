import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Store } from '../store.ts';
import { connect } from './connection.ts';
import { SCHEMA_VERSION, version } from './migrate.ts';
import { sqliteStore } from './store.ts';

export async function peekSqlite(location: string): Promise<Store | null> {
  let path: string;
  try {
    path = realpathSync(resolve(location));
  } catch {
    return null;
  }
  const connection = await connect(path, 'look');
  if (version(connection) === SCHEMA_VERSION) return sqliteStore(connection);
  connection.close();
  return null;
}
