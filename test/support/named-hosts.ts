import { nameTempSchema, postgresUrl } from './postgres.ts';
import { EXECUTABLE, type Sandbox, sandbox } from './queuectl.ts';
import { storeAt } from './sandbox-store.ts';

/** The time limit of a test with hosts. */
const LIMIT_MS = 100_000;

/**
 * Returns a test with one sandbox for each name. They share a queue in PostgreSQL, and each has a state directory and a name of its
 * own, as hosts have.
 */
export function inHosts(names: string[], body: (...hosts: Sandbox[]) => Promise<void>): () => Promise<void> {
  return async () => {
    const { url, drop } = nameTempSchema(await postgresUrl());
    const hosts = names.map((name) =>
      sandbox([], EXECUTABLE, (home) => {
        const store = storeAt(url, home);
        return { ...store, environment: { ...store.environment, QUEUECTL_HOSTNAME: name } };
      }),
    );
    let timer: Timer | undefined;
    const limit = new Promise<never>((_, fail) => {
      timer = setTimeout(() => fail(new Error(`not within ${LIMIT_MS} ms`)), LIMIT_MS);
    });
    try {
      await hosts[0]!.create();
      await Promise.race([body(...hosts), limit]);
    } finally {
      clearTimeout(timer);
      for (const host of hosts) await host.cleanup();
      await drop();
    }
  };
}
