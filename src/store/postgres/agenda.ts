import type { Agenda } from '../contract/claims.ts';
import type { Row } from '../row.ts';
import { toNextTick, toOrder, toWish } from '../rows.ts';
import type { ServerConnection } from './connection.ts';
import { toOpenQueue, type WaitingQueue } from './open-queues.ts';
import { agenda } from './sql/agenda.ts';

/** Reads the agenda with one statement, because an idle worker does little else. */
export async function readAgenda(
  db: ServerConnection,
  workerId: string,
  queues: string[] | null,
  now: number,
): Promise<Agenda> {
  const row = (await db.all(agenda, queues, workerId))[0]!;
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
