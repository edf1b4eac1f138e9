import type { ParentEnd } from '../../core/dependencies.ts';
import type { Connection } from './connection.ts';
import { parentEnded } from './dependencies.ts';
import * as care from './sql/care.ts';

/** Recomputes derived values, such as counters and blocked phases, after an import or a repair has inserted rows. */
export function recount(db: Connection): void {
  db.run(care.countBlockers);
  db.run(care.fixBlockedPhases);
  db.run(care.forgetCounters);
  db.run(care.countJobs);
  for (const { number, id, end } of db.all(care.endedParents))
    parentEnded(db, { number: number as number, id: id as string, end: end as ParentEnd }, db.now());
}
