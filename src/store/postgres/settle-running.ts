import type { SettleLost } from '../contract/care.ts';
import { toClaimedJob } from '../rows.ts';
import { settleAll } from './settle.ts';
import * as sql from './sql/care.ts';
import type { Transaction } from './transaction.ts';

/** Settles the running jobs with numbers above `number`. Their processes belong to another store. */
export async function settleRunning(tx: Transaction, settleLost: SettleLost, number: number): Promise<void> {
  const rows = await tx.all(sql.runningAbove, number);
  await settleAll(
    tx,
    rows.map((row) => settleLost(toClaimedJob(row))),
  );
}
