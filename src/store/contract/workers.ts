import type { StopOrder } from '../../core/signals.ts';
import type { Host } from '../../state/host.ts';

/** Registers workers and supervisors, and passes stop orders to them. */
export interface WorkerStore {
  /**
   * Is true if workers of several hosts can use the store. Each host then needs a guard (worker/guard.ts), and a worker whose lease is
   * over must leave. Is missing in a store that one host uses.
   */
  readonly manyHosts?: boolean;
  /**
   * Registers a worker. `lastUsedAttempt` is the highest attempt number that has a directory on disk. New attempts get higher
   * numbers, even in a store that was restored from an older copy or repaired. Registering the same worker again, after an
   * answer got lost, changes nothing.
   */
  register(worker: NewWorker, lastUsedAttempt?: number): Promise<void>;
  /**
   * Renews the heartbeat and the lease, which ends `leaseMs` later by the clock of the store. Returns the worker's stop order, or
   * null if the worker is no longer registered. With `manyHosts`, also returns null, and changes nothing, if the lease is over. The
   * lease of a host in one boot lasts as long as the longest lease of its workers, also after they were unregistered. Also returns the
   * settings, so that a heartbeat need not read them.
   */
  beat(
    workerId: string,
    draining: boolean,
    leaseMs: number,
    now: number,
  ): Promise<{ order: StopOrder | null; settings: Map<string, string> } | null>;
  /**
   * Removes a worker. Returns false if it holds a job or is not registered. A worker that holds a job stays, and keeps its lease. A
   * store that several hosts use then notes that its process has ended (`hasLeft`).
   */
  unregister(workerId: string): Promise<boolean>;
  /**
   * Removes a worker that still holds jobs, if one of the other workers `heirs` is registered, not draining and not ordered to
   * stop. Before an heir leaves, it looks for running jobs whose worker is gone. Returns false if nothing has changed.
   */
  handOver(workerId: string, heirs: string[]): Promise<boolean>;
  /**
   * Returns the hosts that have registered workers, and perhaps hosts that had some before, in the order of their names. An earlier boot
   * of a host may be missing if its lease is over.
   */
  hosts(): Promise<KnownHost[]>;
  /** Returns all registered workers, with those that started first in front. The store compares the leases with its own clock. */
  workers(): Promise<Worker[]>;
  /**
   * Registers a supervisor, so that it can be ordered to stop while it has no worker. Registering it again changes nothing.
   */
  registerSupervisor(supervisor: RegisteredProcess): Promise<void>;
  unregisterSupervisor(id: string): Promise<void>;
  supervisors(): Promise<(RegisteredProcess & { order: StopOrder | null })[]>;
  /**
   * Orders these workers and supervisors to stop, or everything that is registered if `ids` is null. An order to a supervisor also holds for its workers, including those that
   * register later. A stronger order replaces a weaker one, never the reverse.
   */
  order(ids: string[] | null, order: StopOrder): Promise<void>;
}

/** A host that has, or had, workers. Several hosts may have the same name. */
export interface KnownHost {
  id: string;
  /** The last boot that had workers. A machine that is a copy of another one has the same id and another boot. */
  boot: string;
  name: string;
  /** Tells whether the lease of the host is not over. It may have no worker nevertheless. */
  hasLease: boolean;
  /** When the lease of the host in this boot ends, by the clock of the store. */
  leaseUntil: number;
}

/** A registered process of queuectl. Its host, pid and start time identify it permanently. */
export interface RegisteredProcess {
  id: string;
  pid: number;
  /** The start time of the process as the system shows it (files/process-identity.ts). */
  startTime: string;
  host: Host;
  /** Tells whether the host had a lease in this boot when this was read. Missing in a store that one host uses. */
  bootHasLease?: boolean;
}

export interface NewWorker extends RegisteredProcess {
  supervisor: string;
  hostname: string;
  concurrency: number;
  queues: string[] | null;
  startedAt: number;
  /** The length of the first lease, which the first heartbeat renews. */
  leaseMs: number;
}

export interface Worker extends Omit<NewWorker, 'leaseMs'> {
  lastHeartbeat: number;
  /** Rises with every heartbeat, so an observer needs no clock in common with the worker. */
  beat: number;
  /** Tells whether the worker's lease was not over when it was read. A worker without a lease counts as dead on other hosts. */
  hasLease: boolean;
  /** Tells whether the worker has ended and left its jobs to the next worker of its host. Always false in a store that one host uses. */
  hasLeft: boolean;
  draining: boolean;
  order: StopOrder | null;
  currentJobs: string[];
}
