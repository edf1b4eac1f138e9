import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The store that the commands of a sandbox use. */
interface SandboxStore {
  environment: Record<string, string>;
  stateDirectory(): string;
  remove(): Promise<void>;
}

/** Names the store of a sandbox with this QUEUECTL_HOME. The first command that writes creates it. */
export type MakeSandboxStore = (home: string) => SandboxStore;

/** The stores that this run of the test file uses. If they are on PostgreSQL, sandbox() itself need not wait for the server. */
export const makeSandboxStore: MakeSandboxStore =
  process.env.QUEUECTL_TEST_STORE === 'postgres' ? await onTestServer() : inFile;

function inFile(home: string): SandboxStore {
  return {
    environment: { QUEUECTL_HOME: home },
    stateDirectory: () => join(home, 'queue.db.d'),
    remove: async () => {},
  };
}

/** Makes stores on the server of this run of tests, which is started if the test file is run alone. */
export async function onTestServer(): Promise<MakeSandboxStore> {
  const { postgresUrl } = await import('./postgres.ts');
  // A server of this process is stopped before the sandboxes of a whole file are cleaned up.
  return onServer(await postgresUrl(), Boolean(process.env.QUEUECTL_TEST_POSTGRES));
}

/** Makes stores on a server. `isKept` tells whether the server runs on after the test, so that their schemas are to be dropped. */
export async function onServer(server: string, isKept: boolean): Promise<MakeSandboxStore> {
  const { nameTempSchema } = await import('./postgres.ts');
  return (home) => {
    const { url, drop } = nameTempSchema(server);
    return { ...storeAt(url, home), ...(isKept && { remove: drop }) };
  };
}

/** Names the store at a URL of PostgreSQL. It is not removed. */
export function storeAt(url: string, home: string): SandboxStore {
  return {
    environment: { QUEUECTL_HOME: home, QUEUECTL_DB: url },
    stateDirectory() {
      const [name] = readdirSync(home).filter((entry) => entry.endsWith('.d'));
      if (name === undefined) throw new Error('the store was not created yet');
      return join(home, name);
    },
    remove: async () => {},
  };
}
