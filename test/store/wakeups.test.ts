import { join } from 'node:path';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { describeWakeups } from '../conformance/wakeups.ts';
import { makeTempDir } from '../support/temp-dir.ts';

describeWakeups('sqlite', {
  async open() {
    const dir = makeTempDir();
    const path = join(dir.path, 'queue.db');
    return { one: await openSqlite(path), two: await openSqlite(path), cleanup: dir.remove };
  },
});
