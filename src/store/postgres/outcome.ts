import { pause } from '../../core/clock.ts';
import { QueueError } from '../../core/errors.ts';
import type { Client } from './client.ts';

const LONGEST_PAUSE_MS = 500;
/** PostgreSQL's error for a transaction id that it does not know yet, as after a crash that lost the transaction. */
const IN_FUTURE = '22023';

/** Tells whether a transaction was committed whose answer was lost. Throws if the server does not tell for `waitMs`. */
export async function wasCommitted(
  xid: string,
  connect: () => Promise<Client>,
  waitMs: number,
): Promise<boolean> {
  const start = performance.now();
  for (let tries = 0; ; tries++) {
    const status = await statusOf(xid, connect);
    if (status === 'committed') return true;
    if (status === 'aborted') return false;
    if (performance.now() - start > waitMs)
      throw new QueueError(
        'store-unreachable',
        'the connection was lost during a commit, and it is unknown whether the change was saved',
        'check whether the change was made before you repeat it',
      );
    await pause(Math.random() * Math.min(LONGEST_PAUSE_MS, 10 * 2 ** tries));
  }
}

/** Returns the status of a transaction, or null if it cannot be asked for now. */
async function statusOf(xid: string, connect: () => Promise<Client>): Promise<string | null> {
  let client: Client | null = null;
  try {
    client = await connect();
    const { rows } = await client.query('SELECT pg_xact_status($1::text::xid8) AS status', [xid]);
    return rows[0].status;
  } catch (error) {
    return (error as { code?: string }).code === IN_FUTURE ? 'aborted' : null;
  } finally {
    client?.end().catch(() => {});
  }
}
