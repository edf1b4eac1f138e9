import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addHost, guardsAmong, type TestHost } from './hosts.ts';
import { argumentsOf } from './processes.ts';
import { enqueue, inSandbox, lines, type Sandbox, until } from './queuectl.ts';
import { onTestServer } from './sandbox-store.ts';

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
    100_000,
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
