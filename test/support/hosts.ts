import { join } from 'node:path';
import { killSurvivors, processesWith, sendSignal } from './processes.ts';
import { type Running, type Sandbox, until } from './queuectl.ts';

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
