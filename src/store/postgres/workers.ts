import { STOP_ORDERS, type StopOrder } from '../../core/stop-order.ts';
import { toOrder } from '../agenda-rows.ts';
import type { NewWorker, WorkerStore } from '../contract/workers.ts';
import type { Row } from '../row.ts';
import { mapIfFound, toRegistered, toStopMark, toWorker } from '../rows.ts';
import { labelsColumn, readyDetail, toHost } from '../worker-rows.ts';
import type { Connection } from './connection.ts';
import { recordEvent } from './record-events.ts';
import { lastAttempt } from './sql/claims.ts';
import * as sql from './sql/workers.ts';
import type { Transaction } from './transaction.ts';

export function workerStore(db: Connection): WorkerStore {
  return {
    manyHosts: true,
    register: (worker, lastUsedAttempt = 0) =>
      db.write('register', async (tx) => {
        await skipUsedAttempts(tx, lastUsedAttempt);
        await register(tx, worker);
      }),
    beat: (workerId, draining, leaseMs, now) =>
      db.write('beat', async (tx) =>
        mapIfFound(await tx.get(sql.beatWorker, workerId, now, draining ? 1 : 0, leaseMs), (row) => ({
          order: toOrder(row),
        })),
      ),
    unregister: (workerId) => db.write('unregister', (tx) => unregister(tx, workerId)),
    handOver: (workerId, heirs) => db.write('handOver', (tx) => handOver(tx, workerId, heirs)),
    hosts: () => db.read(async (tx) => (await tx.all(sql.hosts)).map(toHost)),
    workers: () =>
      db.read(async (tx) =>
        (await tx.all(sql.workers)).map((row) => ({ ...toWorker(row), ...leaseOfBoot(row) })),
      ),
    registerSupervisor: ({ id, pid, startTime, host }) =>
      db.write('registerSupervisor', async (tx) => {
        // The mark is read in a later statement, because an order may have been awaited.
        await tx.run(sql.insertSupervisor, id, pid, startTime, host.id, host.boot, host.pidNamespace);
        return mapIfFound(await tx.get(sql.stopMark), toStopMark);
      }),
    unregisterSupervisor: (id) =>
      db.write('unregisterSupervisor', async (tx) => void (await tx.run(sql.deleteSupervisor, id))),
    supervisors: () =>
      db.read(async (tx) =>
        (await tx.all(sql.supervisors)).map((row) => ({ ...toRegistered(row), ...leaseOfBoot(row) })),
      ),
    order: (ids, order) => db.write('order', (tx) => orderToStop(tx, order, ids)),
    orderAll: (order, mark) =>
      db.write('orderAll', async (tx) => {
        await tx.run(sql.lockSupervisors);
        await orderToStop(tx, order, null);
        await tx.run(sql.setStopMark, JSON.stringify(mark));
      }),
  };
}

const leaseOfBoot = ({ bootHasLease }: Row) => ({ bootHasLease: bootHasLease === 1 });

/** Makes sure that new attempts get higher numbers than this one. */
async function skipUsedAttempts(tx: Transaction, lastUsed: number): Promise<void> {
  const isBehind = async () => lastUsed > Number((await tx.get(lastAttempt))!.number);
  if (lastUsed === 0 || !(await isBehind())) return;
  await tx.run(sql.lockAttempts);
  if (await isBehind()) await tx.run(sql.setLastAttempt, lastUsed);
}

async function register(tx: Transaction, worker: NewWorker): Promise<void> {
  const { id, pid, host, hostname, concurrency, queues, labels } = worker;
  const [supervisor] = await Promise.all([
    tx.get(sql.lockSupervisor, worker.supervisor),
    tx.run(sql.putHost, host.id, host.boot, hostname, tx.directory(), worker.leaseMs),
  ]);
  const added = await tx.run(
    sql.insertWorker,
    ...[id, worker.supervisor, pid, worker.startTime, host.id, host.boot, host.pidNamespace],
    ...[hostname, concurrency, queues === null ? null : JSON.stringify(queues)],
    ...[worker.startedAt, supervisor?.stop_order ?? 0, worker.leaseMs, labelsColumn(labels)],
  );
  if (added === 0) return;
  await recordEvent(tx, { kind: 'worker-ready', detail: readyDetail(worker) }, id);
}

async function unregister(tx: Transaction, workerId: string): Promise<boolean> {
  await tx.run(sql.lockWorkers, [workerId]);
  // This is a new statement, because it must see the jobs of a claim that was awaited.
  const deletedRows = await tx.run(sql.deleteIdleWorker, workerId);
  if (deletedRows === 0) await tx.run(sql.noteLeft, workerId);
  return recordStopped(tx, deletedRows, workerId);
}

async function handOver(tx: Transaction, workerId: string, heirs: string[]): Promise<boolean> {
  const rows = await tx.all(sql.lockWorkers, [workerId, ...heirs]);
  const isHeir = (row: Row): boolean => row.id !== workerId && row.draining === 0 && row.stop_order === 0;
  if (!rows.some(isHeir)) return false;
  return recordStopped(tx, await tx.run(sql.deleteWorker, workerId), workerId);
}

/** Records the end of a worker if its row was deleted. Returns whether it was. */
async function recordStopped(tx: Transaction, deletedRows: number, workerId: string): Promise<boolean> {
  if (deletedRows > 0) await recordEvent(tx, { kind: 'worker-stopped', detail: { worker_id: workerId } });
  return deletedRows > 0;
}

/** Orders these workers and supervisors to stop, or all. Supervisors come first, because a worker may be registering. */
async function orderToStop(tx: Transaction, order: StopOrder, ids: string[] | null): Promise<void> {
  const rank = STOP_ORDERS.indexOf(order) + 1;
  await tx.run(sql.orderSupervisors, rank, ids);
  await tx.run(sql.orderWorkers, rank, ids);
}
