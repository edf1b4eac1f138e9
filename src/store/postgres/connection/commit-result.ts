import { QueueError } from '../../../core/errors.ts';
import { growingPause, pause } from '../../../core/time/clock.ts';
import type { Client } from './client.ts';

const LONGEST_PAUSE_MS = 500;
/** PostgreSQL's error for a transaction id that it does not know yet, as after a crash that lost the transaction. */
const IN_FUTURE = '22023';

/** A transaction that was begun. */
export interface BegunTransaction {
  id: string;
  /** Differs after the server has recovered from a crash. */
  serverRun: string;
}

/** Identifies the run of the server. It resets its statistics, and so changes this time, when it recovers from a crash. */
const SELECT_RUN = 'extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time())::text AS "serverRun"';
/** Returns what became of a transaction. */
export const statusSql = `SELECT pg_xact_status($1::text::xid8) AS status, ${SELECT_RUN}`;
/** Gives the current transaction an id, and selects it. */
export const SELECT_BEGUN = `pg_current_xact_id()::text AS id, ${SELECT_RUN}`;

/** The result of a transaction. It is `unknown` if it is over, and the server does not know any more how it ended. */
type CommitResult = 'committed' | 'aborted' | 'unknown';

/**
 * Returns what became of a transaction whose answer was lost. Asks the server until the transaction is over. Throws if that takes
 * longer than `deadline`, a time of `performance.now()`, or if the server stays away.
 */
export async function commitResultOf(
  transaction: BegunTransaction,
  connect: () => Promise<Client>,
  deadline: number,
): Promise<CommitResult> {
  for (let tries = 0; ; tries++) {
    const result = await askOnce(transaction, connect);
    if (result !== null) return result;
    if (performance.now() > deadline) throw unknownCommit();
    await pause(Math.random() * growingPause(tries, 10, LONGEST_PAUSE_MS));
  }
}

export function unknownCommit(): QueueError {
  return new QueueError(
    'store-unreachable',
    'the connection was lost during a commit, and it is unknown whether the change was saved',
    'check whether the change was made before you repeat it',
  );
}

/** Returns null if the transaction is not over, or if the server cannot be asked now. */
async function askOnce(
  { id, serverRun }: BegunTransaction,
  connect: () => Promise<Client>,
): Promise<CommitResult | null> {
  let client: Client | null = null;
  try {
    client = await connect();
    const { rows } = await client.query(statusSql, [id]);
    const { status, serverRun: run } = rows[0];
    if (status === 'aborted') return 'aborted';
    // After a crash, another transaction may have got the id of one that was not saved.
    if (run !== serverRun) return 'unknown';
    return status === 'in progress' ? null : status === 'committed' ? 'committed' : 'unknown';
  } catch (error) {
    return (error as { code?: string }).code === IN_FUTURE ? 'aborted' : null;
  } finally {
    client?.end().catch(() => {});
  }
}
