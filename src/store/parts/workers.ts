import { STOP_ORDERS, type StopOrder } from '../../core/signals.ts';
import type { KnownHost, NewWorker, WorkerStore } from '../contract/workers.ts';
import type { Row } from '../row.ts';
import { toOrder, toRegistered, toWorker } from '../rows.ts';
import { all, type Engine, get, recordEvent, run, type Steps, statementsOf, together } from '../steps.ts';

/** Returns the details of the event that a worker is ready. */
const readyDetail = ({ id, pid, hostname, concurrency, queues }: NewWorker) => ({
  ...{ worker_id: id, pid, hostname, concurrency, queues: queues ?? ['*'] },
});

const toHost = ({ id, boot, name, hasLease, leaseUntil }: Row): KnownHost => ({
  id: String(id),
  boot: String(boot),
  name: String(name),
  hasLease: hasLease === 1,
  leaseUntil: Number(leaseUntil),
});

export const workerStatements = statementsOf((dialect) => {
  const { clock, forChange, forRemoval, hostColumns, isOneOf, jsonList } = dialect;
  const selectProcess = (
    table: 'worker' | 'supervisor',
  ): string => `SELECT id, pid, start_time AS "startTime", host, boot,
    pid_namespace AS "pidNamespace", stop_order AS "stopOrder"${hostColumns[table]}`;
  return {
    stopOrder: 'SELECT stop_order FROM worker WHERE id = $1',
    /** An order to the supervisor waits for this transaction, and then also orders the new worker to stop. */
    lockSupervisor: `SELECT stop_order FROM supervisor WHERE id = $1${forChange}`,
    insertWorker: `INSERT INTO worker (id, supervisor, pid, start_time, host, boot, pid_namespace, hostname, concurrency, queues,
        started_at, last_heartbeat, stop_order, lease_until)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, ${clock} + CAST($13 AS bigint)) ON CONFLICT DO NOTHING`,
    /** Waits for claims of these workers that have not been committed, and for heartbeats that make them drain. */
    lockWorkers: `SELECT id, draining, stop_order FROM worker WHERE ${isOneOf('id', '$1')} ORDER BY id${forRemoval}`,
    deleteIdleWorker: `DELETE FROM worker WHERE id = $1
      AND NOT EXISTS (SELECT 1 FROM job WHERE phase = 'running' AND job.worker_id = worker.id)`,
    deleteWorker: 'DELETE FROM worker WHERE id = $1',
    workers: `${selectProcess('worker')}, supervisor, hostname, concurrency, queues, started_at AS "startedAt",
        last_heartbeat AS "lastHeartbeat", (lease_until > ${clock}) AS "hasLease", beat, draining,
        (SELECT ${jsonList('job.id')} FROM job WHERE phase = 'running' AND job.worker_id = worker.id) AS "currentJobs"
      FROM worker ORDER BY started_at, id`,
    insertSupervisor: `INSERT INTO supervisor (id, pid, start_time, host, boot, pid_namespace)
      VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
    deleteSupervisor: 'DELETE FROM supervisor WHERE id = $1',
    supervisors: `${selectProcess('supervisor')} FROM supervisor ORDER BY id`,
    orderSupervisors: `UPDATE supervisor SET stop_order = $1
      WHERE stop_order < $1 AND (${isOneOf('id', '$2')} OR $2 IS NULL)`,
    orderWorkers: `UPDATE worker SET stop_order = $1
      WHERE stop_order < $1 AND (${isOneOf('id', '$2')} OR ${isOneOf('supervisor', '$2')} OR $2 IS NULL)`,
  };
});

export function workerPart(db: Engine): Omit<WorkerStore, 'manyHosts'> {
  const sql = workerStatements(db.dialect);
  return {
    register: (worker, lastUsedAttempt = 0) =>
      db.write('register', function* (): Steps<void> {
        yield* skipUsedAttempts(db, lastUsedAttempt);
        yield* register(db, worker);
      }),
    async beat(workerId, draining, leaseMs, now) {
      const row = await db.beat(workerId, now, draining ? 1 : 0, leaseMs);
      if ((row?.stop_order ?? null) === null) return null;
      const settings = new Map<string, string>(Object.entries(JSON.parse(String(row!.settings ?? '{}'))));
      return { order: toOrder(row), settings };
    },
    unregister: (workerId) => db.write('unregister', () => unregister(db, workerId)),
    handOver: (workerId, heirs) => db.write('handOver', () => handOver(db, workerId, heirs)),
    hosts: async () => (await db.glance(() => all(db.dialect.hosts))).map(toHost),
    workers: async () => (await db.glance(() => all(sql.workers))).map(toWorker),
    registerSupervisor: async ({ id, pid, startTime, host }) => {
      const values = [id, pid, startTime, host.id, host.boot, host.pidNamespace];
      await db.write('registerSupervisor', () => run(sql.insertSupervisor, ...values));
    },
    unregisterSupervisor: async (id) => {
      await db.write('unregisterSupervisor', () => run(sql.deleteSupervisor, id));
    },
    supervisors: async () => (await db.glance(() => all(sql.supervisors))).map(toRegistered),
    order: (ids, order) => db.write('order', () => orderToStop(db, order, ids), { usesBallast: true }),
  };
}

/** Makes sure that new attempts get higher numbers than this one. */
function* skipUsedAttempts(db: Engine, lastUsed: number): Steps<void> {
  const { lastAttempt, setLastAttempt } = db.dialect;
  const isBehind = function* (): Steps<boolean> {
    return lastUsed > Number((yield* get(lastAttempt))?.number ?? 0);
  };
  if (lastUsed === 0 || !(yield* isBehind())) return;
  // Waits for claims, so that no attempt number is drawn before the new one is set.
  yield* db.lockTable('attempt');
  if (yield* isBehind()) yield* run(setLastAttempt, lastUsed);
}

function* register(db: Engine, worker: NewWorker): Steps<void> {
  const sql = workerStatements(db.dialect);
  const { id, pid, host, hostname, concurrency, queues } = worker;
  const [supervisor] = yield* together(
    get<{ stop_order: number }>(sql.lockSupervisor, worker.supervisor),
    db.registerHost(worker),
  );
  const stopOrder = supervisor?.stop_order ?? 0; // fault-control: insert-worker
  const added = yield* run(
    sql.insertWorker,
    ...[id, worker.supervisor, pid, worker.startTime, host.id, host.boot, host.pidNamespace],
    ...[hostname, concurrency, queues === null ? null : JSON.stringify(queues)],
    ...[worker.startedAt, stopOrder, worker.leaseMs],
  );
  if (added === 0) return;
  yield* recordEvent(db, { kind: 'worker-ready', detail: readyDetail(worker) }, { by: id });
}

function* unregister(db: Engine, workerId: string): Steps<boolean> {
  const sql = workerStatements(db.dialect);
  yield* all(sql.lockWorkers, [workerId]);
  // This is a new statement, because it must see the jobs of a claim that was awaited.
  const deletedRows = yield* run(sql.deleteIdleWorker, workerId);
  if (deletedRows === 0) yield* db.noteLeft(workerId);
  return yield* recordStopped(db, deletedRows, workerId);
}

function* handOver(db: Engine, workerId: string, heirs: string[]): Steps<boolean> {
  const sql = workerStatements(db.dialect);
  const rows = yield* all(sql.lockWorkers, [workerId, ...heirs]);
  const others = rows.filter((row) => row.id !== workerId);
  if (!others.some((row) => row.draining === 0 && row.stop_order === 0)) return false; // fault-control: running-heir
  return yield* recordStopped(db, yield* run(sql.deleteWorker, workerId), workerId);
}

/** Records the end of a worker if its row was deleted. Returns whether it was. */
function* recordStopped(db: Engine, deletedRows: number, workerId: string): Steps<boolean> {
  if (deletedRows > 0) yield* recordEvent(db, { kind: 'worker-stopped', detail: { worker_id: workerId } });
  return deletedRows > 0;
}

/** Orders these workers and supervisors to stop, or all. Supervisors come first, because a worker may be registering. */
function* orderToStop({ dialect }: Engine, order: StopOrder, ids: string[] | null): Steps<void> {
  const sql = workerStatements(dialect);
  const rank = STOP_ORDERS.indexOf(order) + 1;
  yield* run(sql.orderSupervisors, rank, ids);
  yield* run(sql.orderWorkers, rank, ids);
}
