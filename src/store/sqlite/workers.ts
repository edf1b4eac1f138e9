import { STOP_ORDERS } from '../../core/signals.ts';
import type { WorkerStore } from '../contract/workers.ts';
import { toRegistered, toWorker } from '../rows.ts';
import { readyDetail, toHost } from '../worker-rows.ts';
import { stopOrderOf } from './agenda.ts';
import type { Connection } from './connection.ts';
import { recordEvent } from './record-events.ts';
import { lastAttempt } from './sql/claims.ts';
import * as sql from './sql/workers.ts';

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
        const { id, pid, host, hostname, concurrency, queues } = worker;
        const added = db.run(
          sql.insertWorker,
          ...[id, worker.supervisor, pid, worker.startTime, host.id, host.boot, host.pidNamespace],
          ...[hostname, concurrency, queues === null ? null : JSON.stringify(queues)],
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
    workers: () => db.read(() => db.all(sql.workers, db.now()).map(toWorker)),
    registerSupervisor: ({ id, pid, startTime, host }) =>
      db.write(
        'registerSupervisor',
        () => void db.run(sql.insertSupervisor, id, pid, startTime, host.id, host.boot, host.pidNamespace),
      ),
    unregisterSupervisor: (id) =>
      db.write('unregisterSupervisor', () => void db.run(sql.deleteSupervisor, id)),
    supervisors: () => db.read(() => db.all(sql.supervisors).map(toRegistered)),
    order: (ids, order) =>
      db.write(
        'order',
        () => {
          const rank = STOP_ORDERS.indexOf(order) + 1;
          const chosen = ids === null ? null : JSON.stringify(ids);
          db.run(sql.orderWorkers, rank, chosen);
          db.run(sql.orderSupervisors, rank, chosen);
        },
        { usesBallast: true },
      ),
  };
}
