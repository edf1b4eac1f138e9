import { SATISFIED_CONDITIONS } from '../../core/dependencies.ts';
import type { ChildState, JobStore, ParentState } from '../contract/jobs.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/related-jobs.ts';
import type { Value } from './transaction.ts';

type RelatedJobs = Pick<
  JobStore,
  'dependencies' | 'children' | 'countChildren' | 'cancelledWith' | 'cancelledDueTo'
>;

/** Reads which jobs depend on which. */
export function relatedJobs(db: Connection): RelatedJobs {
  const ids = async (statement: string, ...values: Value[]): Promise<string[]> => {
    const rows = await db.read((tx) => tx.all<{ id: string }>(statement, ...values));
    return rows.map((row) => row.id);
  };
  return {
    dependencies: (id) => db.read((tx) => tx.all<ParentState>(sql.dependenciesOfJob, id)),
    // A limit of null is none.
    children: (id, limit) => db.read((tx) => tx.all<ChildState>(sql.childrenOfJob, id, limit ?? null)),
    countChildren: (id, most) =>
      db.read(async (tx) => (await tx.get<{ jobs: number }>(sql.countChildren, id, most))!.jobs),
    cancelledWith: (wanted, end, most) => {
      const { [end]: met, cancelled } = SATISFIED_CONDITIONS;
      return ids(sql.cancelledWith, wanted, end === 'deleted' ? 1 : 0, met, cancelled, most ?? null);
    },
    cancelledDueTo: (id, ends = 'all') => ids(sql.cancelledDueTo, id, ends === 'last' ? 1 : 0),
  };
}
