import type { Store } from '../store.ts';
import * as care from './care-sql.ts';
import { settle } from './claims.ts';
import type { Connection } from './connection.ts';
import { toClaimedJob } from './rows.ts';
import * as sql from './sql.ts';

type CareVerbs = Pick<Store, 'renew'>;

export function careVerbs(db: Connection, onRenewed: () => void): CareVerbs {
  return {
    renew: (lose) =>
      db.write('renew', () => {
        db.run(care.keepOrigin);
        db.run(care.newEpoch);
        db.run(care.forgetWorkers);
        db.run(care.forgetSupervisors);
        for (const row of db.all(sql.runningJobs)) settle(db, lose(toClaimedJob(row)));
        onRenewed();
      }),
  };
}
