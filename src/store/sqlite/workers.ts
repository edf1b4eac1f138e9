import { STOP_ORDERS, type StopOrder, type Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { toSupervised, toWorker } from './rows.ts';
import * as sql from './sql.ts';

type WorkerVerbs = Pick<
  Store,
  | 'register'
  | 'beat'
  | 'ordered'
  | 'unregister'
  | 'workers'
  | 'order'
  | 'registerSupervisor'
  | 'unregisterSupervisor'
  | 'supervisors'
>;

export function workerVerbs(db: Connection): WorkerVerbs {
  return {
    register: (worker) =>
      db.write('register', () => {
        const { host } = worker;
        db.run(
          sql.insertWorker,
          ...[
            worker.id,
            worker.supervisor,
            worker.pid,
            worker.startTime,
            host.id,
            host.boot,
            host.pidNamespace,
          ],
          ...[
            worker.hostname,
            worker.concurrency,
            worker.queues === null ? null : JSON.stringify(worker.queues),
          ],
          ...[worker.startedAt, worker.startedAt, worker.supervisor],
        );
      }),
    beat: (workerId, draining, now) =>
      db.write('beat', () => {
        db.checkFile();
        if (db.run(sql.beatWorker, now, draining ? 1 : 0, workerId) === 0) return null;
        return { order: ordered(db, workerId) };
      }),
    ordered: (workerId) => db.read(() => ordered(db, workerId)),
    unregister: (workerId) => db.write('unregister', () => db.run(sql.deleteWorker, workerId) === 1),
    workers: () => db.read(() => db.all(sql.workers).map(toWorker)),
    registerSupervisor: ({ id, pid, startTime, host }) =>
      db.write('registerSupervisor', () => {
        db.run(sql.insertSupervisor, id, pid, startTime, host.id, host.boot, host.pidNamespace);
      }),
    unregisterSupervisor: (id) =>
      db.write('unregisterSupervisor', () => {
        db.run(sql.deleteSupervisor, id);
      }),
    supervisors: () => db.read(() => db.all(sql.supervisors).map(toSupervised)),
    order: (ids, order) =>
      db.write('order', () => {
        const rank = STOP_ORDERS.indexOf(order) + 1;
        for (const id of ids) {
          db.run(sql.orderWorker, rank, id, id);
          db.run(sql.orderSupervisor, rank, id);
        }
      }),
  };
}

function ordered(db: Connection, workerId: string): StopOrder | null {
  const row = db.get(sql.stopOrder, workerId);
  return row === undefined ? null : (STOP_ORDERS[(row.stop_order as number) - 1] ?? null);
}
