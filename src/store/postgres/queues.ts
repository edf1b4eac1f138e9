import { settingChangedEvent } from '../../core/events.ts';
import { queueChangeEvents } from '../../core/queue.ts';
import type { Queue, QueueStore } from '../contract/queues.ts';
import { toQueue } from '../queue-rows.ts';
import type { Row } from '../row.ts';
import type { Connection } from './connection.ts';
import { isForeignKeyViolation } from './failures.ts';
import { foldAll, lockFold } from './fold.ts';
import { recordEvent, recordQueueEvent } from './record-events.ts';
import { queueNumbers, readSettings } from './settings.ts';
import * as sql from './sql/queues.ts';
import type { Transaction } from './transaction.ts';

export function queueStore(db: Connection): QueueStore {
  return {
    queues: () => db.read(async (tx) => (await tx.all(sql.queues)).map(readQueue)),
    limitedQueues: () => db.read(async (tx) => (await tx.all(sql.limitedQueues)).map(readQueue)),
    setQueue: (name, changes) =>
      db.write('setQueue', async (tx) => {
        const { number, ...before } = await lockQueue(tx, name);
        const { paused, concurrency, rate, agingMs } = changes;
        if (paused !== undefined) await tx.run(sql.setPause, paused?.at ?? null, paused?.by ?? null, number!);
        if (concurrency !== undefined) await tx.run(sql.setConcurrency, concurrency, number!);
        if (rate !== undefined) await tx.run(sql.setRate, rate?.jobs ?? null, rate?.perMs ?? null, number!);
        if (agingMs !== undefined) await tx.run(sql.setAging, agingMs, number!);
        for (const event of queueChangeEvents(changes, before.pausedAt !== null))
          await recordQueueEvent(tx, event, number as number);
        return readQueue((await tx.get(sql.lockQueue, name))!);
      }),
    removeQueue: async (name) => {
      try {
        return await db.write('removeQueue', (tx) => removeQueue(tx, name));
      } catch (error) {
        // A job was added to the queue after this transaction had looked for one.
        if (isForeignKeyViolation(error)) return 'has-jobs';
        throw error;
      }
    },
    settings: () => db.read(readSettings),
    set: (key, text, check) =>
      db.write('set', async (tx) => {
        await tx.run(sql.lockSettings);
        const changed =
          text === null ? await tx.run(sql.dropSetting, key) : await tx.run(sql.putSetting, key, text);
        check(await readSettings(tx));
        if (changed === 1) await recordEvent(tx, settingChangedEvent(key, text));
      }),
  };
}

/** Locks a queue, and creates it first if it does not exist. */
async function lockQueue(tx: Transaction, name: string): Promise<Row> {
  for (;;) {
    await queueNumbers(tx, [name]);
    const row = await tx.get(sql.lockQueue, name);
    // The queue may have been removed in between.
    if (row !== undefined) return row;
  }
}

async function removeQueue(tx: Transaction, name: string): Promise<'removed' | 'has-jobs' | 'absent'> {
  // The log must have no row of the queue left, because a fold after the removal would count for a queue that is gone.
  await lockFold(tx);
  const number = (await tx.get(sql.lockQueueToRemove, name))?.number as number | undefined;
  if (number === undefined) return 'absent';
  if ((await tx.get(sql.anyJobOfQueue, number)) !== undefined) return 'has-jobs';
  await foldAll(tx);
  await tx.run(sql.deleteRollups, number);
  await tx.run(sql.deleteKinds, number);
  await tx.run(sql.deleteQueue, number);
  await tx.run(sql.deleteCounters, number);
  await tx.run(sql.writeNameIntoEvents, name, number);
  await recordEvent(tx, { kind: 'queue-deleted', detail: { queue: name } });
  return 'removed';
}

function readQueue({ number: _, ...row }: Row): Queue {
  return toQueue(row);
}
