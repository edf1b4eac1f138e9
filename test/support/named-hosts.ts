import { EXECUTABLE, type Sandbox, sandbox } from './queuectl.ts';
import { type MakeSandboxStore, onTestServer, storeAt } from './sandbox-store.ts';

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
    let timer: Timer | undefined;
    const limit = new Promise<never>((_, fail) => {
      timer = setTimeout(() => fail(new Error(`not within ${LIMIT_MS} ms`)), LIMIT_MS);
    });
    try {
      await hosts[0]!.create();
      await Promise.race([body(...hosts), limit]);
    } finally {
      clearTimeout(timer);
      // The first host removes the store.
      for (const host of hosts.reverse()) await host.cleanup();
    }
  };
}
