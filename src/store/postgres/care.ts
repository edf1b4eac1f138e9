import type { CareStore } from '../contract/care.ts';
import { settleAsLost } from '../parts/settle.ts';
import type { Engine } from '../steps.ts';
import type { ServerConnection } from './connection.ts';
import { runSteps } from './engine.ts';
import { randomName, readIdentity } from './identity.ts';
import * as sql from './sql/care.ts';

/** Implements the methods of this part that move the contents of a store. store.ts has the others. */
export function careStore(
  db: ServerConnection,
  engine: Engine,
): Pick<CareStore, 'renew' | 'dump' | 'load' | 'loadMark'> {
  return {
    async renew(settleLost) {
      await db.write('renew', async (tx) => {
        await tx.run(sql.keepOrigin);
        await tx.run(sql.setEpoch, randomName());
        await tx.run(sql.deleteWorkers);
        await tx.run(sql.deleteSupervisors);
        await runSteps(tx, settleAsLost(engine, await tx.all(sql.runningAbove, 0), settleLost));
      });
      await readIdentity(db);
    },
    // These parts are loaded on first use, because only two commands need them.
    dump: async (keep, keepPart) => (await import('./dump.ts')).dump(db, keep, keepPart),
    load: async (rows, options) => (await import('./load.ts')).load(db, rows, options),
    loadMark: () => db.read(async (tx) => (await tx.get<{ value: string }>(sql.loadMark))?.value ?? null),
  };
}
