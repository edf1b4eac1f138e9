import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The store that the commands of a sandbox use. */
interface SandboxStore {
  environment: Record<string, string>;
  stateDirectory(): string;
  remove(): Promise<void>;
}

/** Names the store of a sandbox with this QUEUECTL_HOME. The first command that writes creates it. */
export const makeSandboxStore: (home: string) => SandboxStore =
  process.env.QUEUECTL_TEST_STORE === 'postgres' ? await onPostgres() : inFile;

function inFile(home: string): SandboxStore {
  return {
    environment: { QUEUECTL_HOME: home },
    stateDirectory: () => join(home, 'queue.db.d'),
    remove: async () => {},
  };
}

/** Starts the server if the test file is run alone. So sandbox() itself need not wait. */
async function onPostgres(): Promise<typeof makeSandboxStore> {
  const { nameTempSchema, postgresUrl } = await import('./postgres.ts');
  const server = await postgresUrl();
  return (home) => {
    const { url, drop } = nameTempSchema(server);
    return {
      environment: { QUEUECTL_HOME: home, QUEUECTL_DB: url },
      stateDirectory() {
        const [name] = readdirSync(home).filter((entry) => entry.endsWith('.d'));
        if (name === undefined) throw new Error('the store was not created yet');
        return join(home, name);
      },
      // A server of this process is stopped before the sandboxes of a whole file are cleaned up.
      remove: process.env.QUEUECTL_TEST_POSTGRES ? drop : async () => {},
    };
  };
}
