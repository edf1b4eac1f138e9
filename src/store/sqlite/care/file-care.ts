import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { abandonedDrafts, sweepDrafts } from '../../../files/write.ts';
import { stateBeside } from '../../../state/state-directory.ts';
import type { FileCare } from '../../contract/file-care.ts';
import { refuseOverwriting, writeBackup } from './backup.ts';
import { checkSqlite } from './check.ts';
import { inspectSqlite } from './inspect.ts';
import { repairStore } from './repair.ts';
import { databasePath, replaceStore } from './replace.ts';

export const sqliteCare: FileCare = {
  isOnServer: false,
  stateDirectoryOf: (location) => stateBeside(databasePath(location)),
  copy: writeBackup,
  replace: replaceStore,
  check: checkSqlite,
  repair: repairStore,
  migrationSql: async () => null,
  inspect: inspectSqlite,
  leftovers: (location) => abandonedDrafts(dirname(databasePath(location))),
  clearLeftovers: (location) => sweepDrafts(dirname(realpathSync(location))),
  refuseOverwriting,
};
