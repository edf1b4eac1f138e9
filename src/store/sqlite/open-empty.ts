import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { stateBeside } from '../../state/state-directory.ts';
import type { Wakeups } from '../contract/wakeups.ts';
import type { OpenedStore, StoreOptions } from '../store-kind.ts';
import { hasTracesOfStore } from './care/odd-file.ts';
import { connect } from './connection.ts';
import { migrate } from './migrate.ts';
import { SCHEMA_VERSION } from './schema-version.ts';
import { sqliteStore } from './store.ts';

/** The wake-ups of a store that no other process has open. */
const NO_WAKEUPS: Wakeups = {
  wake() {},
  tellChange() {},
  reopensCheaply: false,
  onWake: () => null,
  onChange: () => null,
};

/** Opens an empty store in memory in place of one that does not exist, for commands that only read. Creates no file. */
export async function openEmpty(
  location: string,
  { actor, clock }: Pick<StoreOptions, 'actor' | 'clock'>,
): Promise<OpenedStore> {
  const path = resolve(location);
  const connection = await connect(path, { open: () => new DatabaseSync(':memory:'), actor, now: clock.now });
  await migrate(connection);
  return {
    store: sqliteStore(connection),
    stateDirectory: stateBeside(path),
    wakeups: NO_WAKEUPS,
    clock,
    created: false,
    missing: true,
    schema: { found: SCHEMA_VERSION, known: SCHEMA_VERSION, oldest: SCHEMA_VERSION },
    notes: [],
    warning: hasTracesOfStore(path)
      ? `${path} is missing, although ${path}.d exists; to restore a backup: queuectl restore FILE`
      : null,
  };
}
