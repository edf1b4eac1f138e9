import { systemClock } from '../../core/clock.ts';
import type { ParentEnd } from '../../core/dependencies.ts';
import type { Connection } from './connection.ts';
import { parentEnded } from './dependencies.ts';
import * as care from './sql/care.ts';

/** After rows were put in as they came: what is kept beside them is made anew. */
export function recount(db: Connection): void {
  db.run(care.countBlockers);
  db.run(care.letGo);
  db.run(care.forgetCounters);
  db.run(care.countJobs);
  for (const { number, id, end } of db.all(care.endedParents))
    parentEnded(db, { number: number as number, id: id as string, end: end as ParentEnd }, systemClock.now());
}
