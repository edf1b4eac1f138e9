import { DatabaseSync } from 'node:sqlite';

/** Another process may be writing at the moment at which a test writes. */
const LOCK_WAIT_MS = 20_000;

/** Opens a database file beside other processes that use it. */
export function openDatabase(
  path: string,
  options: { enableForeignKeyConstraints?: boolean } = {},
): DatabaseSync {
  return new DatabaseSync(path, { timeout: LOCK_WAIT_MS, ...options });
}
