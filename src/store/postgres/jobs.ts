import { SATISFIED_CONDITIONS } from '../../core/jobs/dependencies.ts';
import type { JobStore } from '../contract/jobs.ts';
import { insertion } from '../parts/insert.ts';
import type { Value } from '../row.ts';
import { toAttempt } from '../rows.ts';
import { toSetAsideCounts } from '../set-aside.ts';
import type { Engine } from '../steps.ts';
import type { ServerConnection } from './connection.ts';
import { insertionOn } from './insert-on.ts';
import { count, list, scanEnd } from './lists.ts';
import { attemptsOfJob, setAsideCounts } from './sql/jobs.ts';
import * as sql from './sql/related-jobs.ts';

type JobLists = Pick<
  JobStore,
  | ('insert' | 'insertOn' | 'list' | 'scanEnd' | 'count' | 'setAsideCounts' | 'attempts')
  | ('cancelledWith' | 'cancelledDueTo')
>;

export function jobLists(db: ServerConnection, engine: Engine): JobLists {
  const ids = async (statement: string, ...values: Value[]): Promise<string[]> => {
    const rows = await db.read((tx) => tx.all<{ id: string }>(statement, ...values));
    return rows.map((row) => row.id);
  };
  return {
    insert: insertion(engine),
    insertOn: insertionOn(db, engine),
    list: (filter, page) => db.read((tx) => list(tx, filter, page)),
    scanEnd: (filter, limit, before) => db.read((tx) => scanEnd(tx, filter, limit, before)),
    count: (filter, most, range) => db.read((tx) => count(tx, filter, most, range)),
    setAsideCounts: (now) => db.read(async (tx) => (await tx.all(setAsideCounts, now)).map(toSetAsideCounts)),
    attempts: (id) => db.read(async (tx) => (await tx.all(attemptsOfJob, id, ...tx.host())).map(toAttempt)),
    cancelledWith: (wanted, end, most) => {
      const { [end]: met, cancelled } = SATISFIED_CONDITIONS;
      return ids(sql.cancelledWith, wanted, end === 'deleted' ? 1 : 0, met, cancelled, most ?? null);
    },
    cancelledDueTo: (id, ends = 'all') => ids(sql.cancelledDueTo, id, ends === 'last' ? 1 : 0),
  };
}
