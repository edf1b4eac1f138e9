/** Workers and supervisors as a store knows them. */

/** Strongest last. */
export const STOP_ORDERS = ['drain', 'leave', 'force'] as const;
export type StopOrder = (typeof STOP_ORDERS)[number];

/** The machine as far as processes are concerned: a pid means something only within one of these. */
export interface Host {
  id: string;
  boot: string;
  /** With the time namespace, where that is not the first one: start times differ between those. */
  pidNamespace: string;
}

/** The last order to stop that was meant for every worker. A supervisor that was starting meanwhile obeys it too. */
export interface StopMark {
  /** The boot whose clock `at` is read from. */
  boot: string;
  /** Milliseconds on a clock that all processes of that boot share. */
  at: number;
  /** The process that gave the order, and its ancestors: a program that one of them becomes started after the order. */
  by: string[];
  /**
   * The processes that had started the program then, or had just been forked, as that pid namespace names them. Missing in
   * the mark of an older version; null where the system does not list processes.
   */
  programs?: { pidNamespace: string; running: string[]; forked: string[] } | null;
}

/** A process of ours, named for ever by its machine, its pid and its start. */
export interface Supervised {
  id: string;
  pid: number;
  /** When the process started, in the kernel's own count: with the pid it names one process for ever. */
  startTime: string;
  host: Host;
}

export interface NewWorker extends Supervised {
  supervisor: string;
  hostname: string;
  concurrency: number;
  queues: string[] | null;
  startedAt: number;
}

export interface Worker extends NewWorker {
  lastHeartbeat: number;
  /** Rises with every heartbeat: an observer needs no clock in common with the worker. */
  beat: number;
  draining: boolean;
  order: StopOrder | null;
  currentJobs: string[];
}
