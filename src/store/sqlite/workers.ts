import { STOP_ORDERS } from '../../core/stop-order.ts';
import type { WorkerStore } from '../contract/workers.ts';
import { mapIfFound, toRegistered, toStopMark, toWorker } from '../rows.ts';
import { labelsColumn, readyDetail, toHost } from '../worker-rows.ts';
import { stopOrderOf } from './agenda.ts';
import type { Connection } from './connection.ts';
import { recordEvent } from './record-events.ts';
import { lastAttempt } from './sql/claims.ts';
import * as sql from './sql/workers.ts';

/** The schema version since which workers have labels. */
const FIRST_WITH_LABELS = 22;

export function workerStore(db: Connection): Omit<WorkerStore, 'manyHosts'> {
  /** Records the end of a worker if its row was deleted. Returns whether it was. */
  const recordStopped = (deletedRows: number, workerId: string): boolean => {
    if (deletedRows > 0) recordEvent(db, { kind: 'worker-stopped', detail: { worker_id: workerId } });
    return deletedRows > 0;
  };
  return {
    register: (worker, lastUsedAttempt = 0) =>
      db.write('register', () => {
        if (lastUsedAttempt > Number(db.get(lastAttempt)?.number ?? 0)) {
          db.run(sql.deleteLastAttempt);
          db.run(sql.setLastAttempt, lastUsedAttempt);
        }
        const { id, pid, host, hostname, concurrency, queues, labels } = worker;
        const added = db.run(
          sql.insertWorker,
          ...[id, worker.supervisor, pid, worker.startTime, host.id, host.boot, host.pidNamespace],
          ...[hostname, concurrency, queues === null ? null : JSON.stringify(queues), labelsColumn(labels)],
          ...[worker.startedAt, worker.startedAt, worker.startedAt + worker.leaseMs, worker.supervisor],
        );
        if (added === 0) return;
        recordEvent(db, { kind: 'worker-ready', detail: readyDetail(worker) }, id);
      }),
    beat: (workerId, draining, leaseMs, now) =>
      db.write('beat', () => {
        db.checkFile();
        if (db.run(sql.beatWorker, now, now + leaseMs, draining ? 1 : 0, workerId) === 0) return null;
        return { order: stopOrderOf(db, workerId) };
      }),
    unregister: (workerId) =>
      db.write('unregister', () => recordStopped(db.run(sql.deleteWorker, workerId), workerId)),
    handOver: (workerId, heirs) =>
      db.write('handOver', () =>
        recordStopped(db.run(sql.deleteWithHeir, workerId, JSON.stringify(heirs)), workerId),
      ),
    hosts: () => db.read(() => db.all(sql.hosts, db.now()).map(toHost)),
    workers: () =>
      db.read(() => {
        const version = db.get('PRAGMA user_version')!.user_version as number;
        const hasLabels = version >= FIRST_WITH_LABELS;
        return db.all(hasLabels ? sql.workers : sql.workersWithoutLabels, db.now()).map(toWorker);
      }),
    registerSupervisor: ({ id, pid, startTime, host }) =>
      db.write('registerSupervisor', () => {
        db.run(sql.insertSupervisor, id, pid, startTime, host.id, host.boot, host.pidNamespace);
        return mapIfFound(db.get(sql.stopMark), toStopMark);
      }),
    unregisterSupervisor: (id) =>
      db.write('unregisterSupervisor', () => void db.run(sql.deleteSupervisor, id)),
    supervisors: () => db.read(() => db.all(sql.supervisors).map(toRegistered)),
    order: (ids, order) =>
      db.write('order', () => {
        const rank = STOP_ORDERS.indexOf(order) + 1;
        for (const id of ids) {
          db.run(sql.orderWorker, rank, id, id);
          db.run(sql.orderSupervisor, rank, id);
        }
      }),
    orderAll: (order, mark) =>
      db.write('orderAll', () => {
        const rank = STOP_ORDERS.indexOf(order) + 1;
        db.run(sql.orderWorkers, rank);
        db.run(sql.orderSupervisors, rank);
        db.run(sql.setStopMark, JSON.stringify(mark));
      }),
  };
}
