import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { inSandbox, type Sandbox } from './queuectl.ts';
import { onServer } from './sandbox-store.ts';

/** Returns a test with a server of its own, which `body` may crash. */
export function withOwnServer(body: (box: Sandbox, server: PostgresServer) => Promise<void>) {
  return async (): Promise<void> => {
    const server = await startPostgres();
    try {
      const stores = () => onServer(server.url, false);
      await inSandbox((box) => body(box, server), undefined, stores)();
    } finally {
      await server.stop();
    }
  };
}
