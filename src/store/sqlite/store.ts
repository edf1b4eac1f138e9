import type { Store } from '../store.ts';
import { actingVerbs } from './acting.ts';
import { claimVerbs } from './claims.ts';
import type { Connection } from './connection.ts';
import { jobVerbs } from './jobs.ts';
import { pruneVerbs } from './prune.ts';
import { queueVerbs } from './queues.ts';
import { scheduleVerbs } from './schedules.ts';
import * as sql from './sql.ts';
import { workerVerbs } from './workers.ts';

export function sqliteStore(db: Connection): Store {
  let epoch: string | null = null;
  return {
    get epoch() {
      epoch ??= db.get(sql.epoch)!.value as string;
      return epoch;
    },
    ...jobVerbs(db),
    ...claimVerbs(db),
    ...workerVerbs(db),
    ...actingVerbs(db),
    ...pruneVerbs(db),
    ...queueVerbs(db),
    ...scheduleVerbs(db),
    settings: () => db.read(() => readSettings(db)),
    set: (key, text, check) =>
      db.write('set', () => {
        if (text === null) db.run(sql.dropSetting, key);
        else db.run(sql.putSetting, key, text);
        check(readSettings(db));
      }),
    finished: (limit) =>
      db.read(() =>
        db.all(sql.finishedAttempts, limit).map((row) => ({
          waitMs: row.wait_ms as number,
          runMs: row.run_ms as number,
          finishedAt: row.finished_at as number,
        })),
      ),
    async close() {
      db.close();
    },
  };
}

function readSettings(db: Connection): Map<string, string> {
  return new Map(db.all(sql.settings).map((row) => [row.key as string, row.value as string]));
}
