import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argumentsOf, killSurvivors, processesWith, sendSignal } from './processes.ts';
import {
  EXECUTABLE,
  enqueue,
  inSandbox,
  lines,
  type Running,
  type Sandbox,
  sandbox,
  until,
  within,
} from './queuectl.ts';
import { type MakeSandboxStore, onTestServer, storeAt } from './sandbox-store.ts';

/**
 * One of several hosts that share the PostgreSQL store of a sandbox. All of them are on this machine. Each has its own state
 * directory, and therefore its own id.
 */
export interface TestHost {
  home: string;
  /** The variables with which a command runs on this host. */
  environment: Record<string, string>;
  /** The first words of every command of this host. */
  through: string[];
  /** Starts workers and resolves when they are ready. */
  start(...args: string[]): Promise<Running>;
  /** Returns the pids of all processes of the host, jobs included. */
  pids(): number[];
  /** Kills all processes of the host, as a power cut does. */
  kill(): Promise<void>;
  /** Suspends all processes of the host, jobs and guard included. */
  freeze(): Promise<void>;
  wake(): void;
}

export interface HostOptions {
  /** The URL at which this host reaches the store. */
  url?: string;
  /** The first words of every command of this host. */
  through?: string[];
}

/** Adds a host to a sandbox. Remove it with `kill` before the sandbox is cleaned up. */
export function addHost(box: Sandbox, name: string, { url, through = [] }: HostOptions = {}): TestHost {
  const home = join(box.directory, `home-${name}`);
  const environment = { ...box.environment, QUEUECTL_HOME: home, ...(url && { QUEUECTL_DB: url }) };
  const pids = (): number[] => processesWith(`QUEUECTL_HOME=${home}`);
  return {
    home,
    environment,
    through,
    pids,
    async start(...args) {
      const running = box.start(['worker', 'start', ...args], { env: environment, through });
      const count = Number(args[args.indexOf('--count') + 1]) || 1;
      await until(() => running.output().split(' ready ').length > count, `the workers of ${name} are ready`);
      return running;
    },
    kill: () => killSurvivors(home),
    async freeze() {
      // A process that is just being forked is found in the next round.
      for (let seen = -1; seen !== pids().length; ) {
        seen = pids().length;
        sendSignal(pids(), 'SIGSTOP');
      }
    },
    wake: () => sendSignal(pids(), 'SIGCONT'),
  };
}

/** Returns the pids of the guards among these processes. */
export function guardsAmong(pids: number[], argumentsOf: (pid: number) => string[]): number[] {
  return pids.filter((pid) => argumentsOf(pid).includes('__guard'));
}

/** Settings with a lease that tests can wait for. */
export const QUICK = { 'heartbeat-interval': '300ms', 'kill-grace': '500ms', lease: '4s' };

/** Returns a test with two hosts that share a store. */
export function withHosts(
  body: (box: Sandbox, a: TestHost, b: TestHost) => Promise<void>,
): () => Promise<void> {
  return inSandbox(
    async (box) => {
      const hosts = [addHost(box, 'a'), addHost(box, 'b')] as const;
      try {
        await body(box, ...hosts);
      } finally {
        // Workers that were killed would look alive until their leases are over.
        await box.run(['worker', 'stop', '--force', '--timeout', '5s']);
        for (const host of hosts) await host.kill();
      }
    },
    LIMIT_MS,
    onTestServer,
  );
}

/**
 * Enqueues a job whose first run goes on until the file `go` exists, and then exits with `code`. Every later run exits at once. Runs
 * that meet each other write to the file `overlaps`.
 */
export async function enqueueLongJob(
  box: Sandbox,
  id: string,
  code = 0,
  fields: Record<string, unknown> = {},
): Promise<void> {
  const command = `exec 9>>lock-${id}; flock -n 9 || echo ${id} >>overlaps; echo $QUEUECTL_HOME >>runs-${id}
    mkdir first-${id} 2>/dev/null || exit 0
    while [ ! -e go ]; do sleep 0.05; done; exit ${code}`;
  await enqueue(box, id, command, { max_retries: 1, ...fields });
}

export const runsOf = (box: Sandbox, id: string): string[] => lines(join(box.directory, `runs-${id}`));
export const overlaps = (box: Sandbox): string[] => lines(join(box.directory, 'overlaps'));
export const letGo = (box: Sandbox): void => writeFileSync(join(box.directory, 'go'), '');
export const untilRuns = (box: Sandbox, id: string, count: number) =>
  until(() => runsOf(box, id).length >= count, `${id} has run ${count} times`);

export const guardsOf = (host: TestHost): number[] => guardsAmong(host.pids(), argumentsOf);
/** Returns the supervisors and workers of a host. */
export const managersOf = (host: TestHost): number[] => {
  const isManager = (pid: number): boolean =>
    argumentsOf(pid).some((word) => word === '__worker' || word === 'start');
  return host.pids().filter(isManager);
};

/** The time limit of a test with hosts. */
const LIMIT_MS = 100_000;

/**
 * Returns a test with one sandbox for each name. They share a queue in PostgreSQL, and each has a state directory and a name of its
 * own, as hosts have. `stores` replaces the server of this run of tests.
 */
export function inHosts(
  names: string[],
  body: (...hosts: Sandbox[]) => Promise<void>,
  stores: () => Promise<MakeSandboxStore> = onTestServer,
): () => Promise<void> {
  return async () => {
    const makeStore = await stores();
    const hosts: Sandbox[] = [];
    for (const name of names) {
      const url = hosts[0]?.environment.QUEUECTL_DB;
      hosts.push(
        sandbox([], EXECUTABLE, (home) => {
          const store = url === undefined ? makeStore(home) : storeAt(url, home);
          return { ...store, environment: { ...store.environment, QUEUECTL_HOSTNAME: name } };
        }),
      );
    }
    try {
      await hosts[0]!.create();
      await within(LIMIT_MS, body(...hosts));
    } finally {
      // The first host removes the store.
      for (const host of hosts.reverse()) await host.cleanup();
    }
  };
}
