import { QueueError } from '../../core/errors.ts';
import { settingChanged } from '../../core/events.ts';
import type { Store } from '../store.ts';
import { actingVerbs } from './acting.ts';
import { careVerbs } from './care.ts';
import * as care from './care-sql.ts';
import { claimVerbs } from './claims.ts';
import type { Connection, Row } from './connection.ts';
import { eventVerbs, record } from './events.ts';
import { translate } from './failures.ts';
import { figureVerbs } from './figures.ts';
import { jobVerbs } from './jobs.ts';
import { refuseNewer } from './migrate.ts';
import { pruneVerbs } from './prune.ts';
import { queueVerbs } from './queues.ts';
import { toJob } from './rows.ts';
import { scheduleVerbs } from './schedules.ts';
import * as sql from './sql.ts';
import { transferVerbs } from './transfer.ts';
import { workerVerbs } from './workers.ts';

export function sqliteStore(db: Connection): Store {
  let epoch: string | null = null;
  return {
    get epoch() {
      epoch ??= readEpoch(db);
      return epoch;
    },
    get origin() {
      const row = db.get(care.origin);
      return row === undefined ? null : checkEpoch(db, row.value);
    },
    ...jobVerbs(db),
    ...claimVerbs(db),
    ...workerVerbs(db),
    ...actingVerbs(db),
    ...pruneVerbs(db),
    ...queueVerbs(db),
    ...scheduleVerbs(db),
    ...transferVerbs(db),
    ...careVerbs(db, () => {
      epoch = null;
    }),
    ...figureVerbs(db),
    settings: () => db.read(() => readSettings(db)),
    set: (key, text, check) =>
      db.write('set', () => {
        const changed = text === null ? db.run(sql.dropSetting, key) : db.run(sql.putSetting, key, text);
        check(readSettings(db));
        if (changed === 1) record(db, settingChanged(key, text));
      }),
    finished: (limit) =>
      db.read(() =>
        db.all(sql.finishedAttempts, limit).map((row) => ({
          waitMs: row.wait_ms as number,
          runMs: row.run_ms as number,
          finishedAt: row.finished_at as number,
          ok: row.ok === 1,
        })),
      ),
    lastEnded: (state, limit) => db.read(() => db.all(sql.lastEnded, state, limit).map(toJob)),
    async check() {
      db.checkFile();
      await db.read(() => refuseNewer(db));
    },
    ...eventVerbs(db),
    as: (actor) => sqliteStore({ ...db, actor }),
    async close() {
      db.close();
    },
  };
}

function readEpoch(db: Connection): string {
  let row: Row | undefined;
  try {
    row = db.get(sql.epoch);
  } catch (error) {
    throw translate(error, db.path);
  }
  if (row === undefined) throw new QueueError('store-corrupt', `${db.path} is damaged: it has no epoch`);
  return checkEpoch(db, row.value);
}

/** An epoch becomes part of the paths of attempts, and is compared with the cookies of processes. */
function checkEpoch(db: Connection, value: unknown): string {
  if (typeof value === 'string' && EPOCH.test(value)) return value;
  throw new QueueError(
    'store-corrupt',
    `${db.path} is damaged: '${String(value).slice(0, 40)}' is not a valid epoch (12 hex digits)`,
  );
}

export const EPOCH = /^[0-9a-f]{12}$/;

export function readSettings(db: Connection): Map<string, string> {
  return new Map(db.all(sql.settings).map((row) => [row.key as string, row.value as string]));
}
