import { settingChangedEvent } from '../../core/events.ts';
import { queueChangeEvents } from '../../core/queue.ts';
import type { QueueStore } from '../contract/queues.ts';
import { toQueue } from '../queue-rows.ts';
import type { Connection } from './connection.ts';
import { recordEvent, recordQueueEvent } from './record-events.ts';
import { queueNumber, readSettings } from './settings.ts';
import * as sql from './sql/queues.ts';

/** Implements this part except `settings`, which store-core.ts has. */
export function queueStore(db: Connection): Omit<QueueStore, 'settings'> {
  return {
    queues: () => db.read(() => db.all(sql.queues).map(toQueue)),
    limitedQueues: () => db.read(() => db.all(sql.limitedQueues).map(toQueue)),
    setQueue: (name, changes) =>
      db.write('setQueue', () => {
        const number = queueNumber(db, name);
        const { paused, concurrency, rate, agingMs } = changes;
        const before = toQueue(db.get(sql.queueByName, name)!);
        if (paused !== undefined) db.run(sql.setPause, paused?.at ?? null, paused?.by ?? null, number);
        if (concurrency !== undefined) db.run(sql.setConcurrency, concurrency, number);
        if (rate !== undefined) db.run(sql.setRate, rate?.jobs ?? null, rate?.perMs ?? null, number);
        if (agingMs !== undefined) db.run(sql.setAging, agingMs, number);
        for (const event of queueChangeEvents(changes, before.pausedAt !== null))
          recordQueueEvent(db, event, number);
        return toQueue(db.get(sql.queueByName, name)!);
      }),
    removeQueue: (name) =>
      db.write('removeQueue', () => {
        const number = db.get(sql.queueNumber, name)?.number as number | undefined;
        if (number === undefined) return 'absent';
        if (db.get(sql.anyJobOfQueue, number) !== undefined) return 'has-jobs';
        db.run(sql.deleteRollups, number);
        db.run(sql.deleteKinds, number);
        db.run(sql.deleteQueue, number);
        db.run(sql.deleteCounters, number);
        db.run(sql.writeNameIntoEvents, name, number);
        recordEvent(db, { kind: 'queue-deleted', detail: { queue: name } });
        return 'removed';
      }),
    set: (key, text, check) =>
      db.write('set', () => {
        const changed = text === null ? db.run(sql.dropSetting, key) : db.run(sql.putSetting, key, text);
        check(readSettings(db));
        if (changed === 1) recordEvent(db, settingChangedEvent(key, text));
      }),
  };
}
