import { QueueError } from '../../core/errors.ts';
import { type Client, endClient, keepRunning } from './client.ts';

/** A few connections that the calls of one process share. */
export interface Pool {
  /** Returns a connection that no other call uses. Waits while all are in use. A new one must be open until `deadline`. */
  take(deadline?: number): Promise<Client>;
  /** Gives a connection back. A broken one is closed. */
  give(client: Client, isBroken: boolean): void;
  /** Closes all connections. Those in use are closed when they are given back. */
  close(): Promise<void>;
}

/** Creates a pool. `first` is a connection that is open already. */
export function createPool(
  connect: (deadline?: number) => Promise<Client>,
  most: number,
  first?: Client,
): Pool {
  const idle: Client[] = [];
  const waiting: (() => void)[] = [];
  let open = 0;
  let isClosed = false;

  const drop = (client: Client): Promise<void> => {
    open--;
    waiting.shift()?.();
    // Node would otherwise exit while the caller waits for the end of an idle connection.
    keepRunning(client, true);
    return endClient(client);
  };
  const watch = (client: Client): void => {
    // A connection that ends while it is idle is forgotten.
    client.once('end', () => {
      const at = idle.indexOf(client);
      if (at === -1) return;
      idle.splice(at, 1);
      open--;
      waiting.shift()?.();
    });
  };
  const take = async (deadline?: number): Promise<Client> => {
    for (;;) {
      if (isClosed) throw new QueueError('store-unavailable', 'the connection to PostgreSQL is closed');
      const client = idle.pop();
      if (client !== undefined) {
        keepRunning(client, true);
        return client;
      }
      if (open < most) break;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    open++;
    try {
      const client = await connect(deadline);
      watch(client);
      return client;
    } catch (error) {
      open--;
      waiting.shift()?.();
      throw error;
    }
  };
  const give = (client: Client, isBroken: boolean): void => {
    if (isBroken || isClosed) {
      void drop(client);
      return;
    }
    // An idle connection does not keep the process running.
    keepRunning(client, false);
    idle.push(client);
    waiting.shift()?.();
  };
  if (first !== undefined) {
    open++;
    watch(first);
    give(first, false);
  }
  return {
    take,
    give,
    async close() {
      isClosed = true;
      for (const resume of waiting.splice(0)) resume();
      await Promise.all(idle.splice(0).map(drop));
    },
  };
}
