import { STOP_ORDERS, type StopOrder } from '../../core/signals.ts';
import { toOrder } from '../agenda-rows.ts';
import type { NewWorker, WorkerStore } from '../contract/workers.ts';
import type { Row } from '../row.ts';
import { toRegistered, toWorker } from '../rows.ts';
import { readyDetail, toHost } from '../worker-rows.ts';
import type { ServerConnection } from './connection.ts';
import { recordEvent } from './record-events.ts';
import { lastAttempt } from './sql/claims.ts';
import * as sql from './sql/workers.ts';
import type { Transaction } from './transaction.ts';

export function workerStore(db: ServerConnection): WorkerStore {
  return {
    manyHosts: true,
    register: (worker, lastUsedAttempt = 0) =>
      db.write('register', async (tx) => {
        await skipUsedAttempts(tx, lastUsedAttempt);
        await register(tx, worker);
      }),
    async beat(workerId, draining, leaseMs, now) {
      const [row] = await db.writeOnce('beat', sql.beatWorker, workerId, now, draining ? 1 : 0, leaseMs);
      if (row!.stop_order === null) return null;
      const settings = new Map<string, string>(Object.entries(JSON.parse(String(row!.settings ?? '{}'))));
      return { order: toOrder(row), settings };
    },
    unregister: (workerId) => db.write('unregister', (tx) => unregister(tx, workerId)),
    handOver: (workerId, heirs) => db.write('handOver', (tx) => handOver(tx, workerId, heirs)),
    hosts: async () => (await db.all(sql.hosts)).map(toHost),
    workers: async () =>
      (await db.all(sql.workers)).map((row) => ({ ...toWorker(row), ...leaseOfBoot(row) })),
    registerSupervisor: ({ id, pid, startTime, host }) =>
      db.write('registerSupervisor', async (tx) => {
        await tx.run(sql.insertSupervisor, id, pid, startTime, host.id, host.boot, host.pidNamespace);
      }),
    unregisterSupervisor: (id) =>
      db.write('unregisterSupervisor', async (tx) => void (await tx.run(sql.deleteSupervisor, id))),
    supervisors: async () =>
      (await db.all(sql.supervisors)).map((row) => ({ ...toRegistered(row), ...leaseOfBoot(row) })),
    order: (ids, order) => db.write('order', (tx) => orderToStop(tx, order, ids)),
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
  const { id, pid, host, hostname, concurrency, queues } = worker;
  const [supervisor] = await Promise.all([
    tx.get(sql.lockSupervisor, worker.supervisor),
    tx.run(sql.putHost, host.id, host.boot, hostname, tx.directory(), worker.leaseMs),
  ]);
  const added = await tx.run(
    sql.insertWorker,
    ...[id, worker.supervisor, pid, worker.startTime, host.id, host.boot, host.pidNamespace],
    ...[hostname, concurrency, queues === null ? null : JSON.stringify(queues)],
    ...[worker.startedAt, supervisor?.stop_order ?? 0, worker.leaseMs],
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
