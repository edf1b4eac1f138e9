import { realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { abandonedDrafts, sweepDrafts } from '../../../files/drafts.ts';
import { stateBeside } from '../../../state/state-directory.ts';
import type { FileCare } from '../../contract/file-care.ts';
import { writeBackup } from './backup.ts';
import { refuseOverwriting } from './backup-target.ts';
import { checkSqlite } from './check.ts';
import { refuseReading } from './current-files.ts';
import { inspectSqlite } from './inspect.ts';
import { repairStore } from './repair-store.ts';
import { databasePath, replaceStore } from './replace.ts';
import { finishSwaps, hiddenNames } from './swap.ts';

export const sqliteCare: FileCare = {
  isOnServer: false,
  stateDirectoryOf: (location) => stateBeside(databasePath(location)),
  copy: writeBackup,
  replace: replaceStore,
  async check(location) {
    await refuseReading(location);
    return checkSqlite(location);
  },
  repair: repairStore,
  migrationSql: async () => null,
  inspect: inspectSqlite,
  leftovers(location) {
    const directory = dirname(databasePath(location));
    const hidden = hiddenNames(databasePath(location)).map((name) => join(directory, name));
    return [
      ...abandonedDrafts(directory),
      ...hidden.map((path) => ({ path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 })),
    ];
  },
  clearLeftovers(location) {
    const db = realpathSync(location);
    sweepDrafts(dirname(db));
    finishSwaps(db, true);
  },
  refuseOverwriting,
};
