import type { JobStore, QueueCount } from '../contract/jobs.ts';
import { mapIfFound, toJob } from '../rows.ts';
import type { Connection } from './connection.ts';
import { insertion } from './insert.ts';
import * as sql from './sql/jobs.ts';
import { unwritten } from './unwritten.ts';

export function jobStore(db: Connection): JobStore {
  return {
    ...unwritten<Omit<JobStore, 'insert' | 'get' | 'counts'>>('jobs', [
      ...(['list', 'deadJobs', 'scanEnd', 'count', 'idsStartingWith', 'setAsideCounts', 'attempts'] as const),
      ...(['dependencies', 'children', 'countChildren', 'cancelledWith', 'cancelledDueTo', 'stdin'] as const),
      ...(['output', 'needsPlace'] as const),
    ]),
    insert: insertion(db),
    get: (id) => db.read(async (tx) => mapIfFound(await tx.get(sql.jobById, id), toJob)),
    counts: () => db.read((tx) => tx.all<QueueCount>(sql.counts)),
  };
}
