import type { Agenda } from '../contract/claims.ts';
import { claimStatements } from '../parts/claims.ts';
import { scheduleStatements } from '../parts/schedules.ts';
import { workerStatements } from '../parts/workers.ts';
import type { Row } from '../row.ts';
import { toNextTick, toOrder, toWish } from '../rows.ts';
import { statementsOf } from '../steps.ts';
import type { ServerConnection } from './connection/connection.ts';
import { POSTGRES } from './engine.ts';
import { toOpenQueue, type WaitingQueue } from './open-queues.ts';
import { openQueues } from './sql/claims.ts';

const asJson = (statement: string): string => `(SELECT json_agg(one)::text FROM (${statement}) AS one)`;
/** These statements have the id of the worker as their only value. */
const ofWorker = (statement: string): string => statement.replaceAll('$1', '$2');

/** Reads the agenda of the worker $2. Without queues in $1, it does not look for jobs. */
const agendaStatement = statementsOf((dialect) => {
  const { stopOrder } = workerStatements(dialect);
  const { wishes } = claimStatements(dialect);
  return `SELECT (${ofWorker(stopOrder)}) AS stop_order, ${asJson(ofWorker(wishes))} AS wishes,
    CASE WHEN $1::text[] IS NULL OR cardinality($1) > 0 THEN ${asJson(openQueues)} END AS queues, tick.*
    FROM (${scheduleStatements(dialect).nextTick}) AS tick`;
});

/** Reads the agenda with one statement, because an idle worker does little else. */
export async function readAgenda(
  db: ServerConnection,
  workerId: string,
  queues: string[] | null,
  now: number,
): Promise<Agenda> {
  const row = (await db.all(agendaStatement(POSTGRES), queues, workerId))[0]!;
  const rowsOf = (column: string): Row[] => JSON.parse(String(row[column] ?? '[]'));
  return {
    order: toOrder(row),
    wishes: rowsOf('wishes').map(toWish),
    nextDue: toNextDue(rowsOf('queues').map((queue) => toOpenQueue(queue, now))),
    nextTick: toNextTick(row),
  };
}

/** Returns when the next job of these queues can be claimed. */
function toNextDue(queues: WaitingQueue[]): number | null {
  let earliest: number | null = null;
  for (const queue of queues) {
    const due = queue.firstReady !== null ? 0 : queue.dueAt;
    if (due === null || queue.openAt === Number.POSITIVE_INFINITY) continue;
    const at = Math.max(due, queue.openAt);
    earliest = Math.min(earliest ?? at, at);
  }
  return earliest;
}
