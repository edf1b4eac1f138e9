import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The name of a message from the client, as it is in its bytes. */
const COMMIT = Buffer.from('COMMIT\0');

/** How a proxy treats a COMMIT: it forwards it, drops it, or forwards it and drops the answer. Both drops end the connection. */
export type CommitFault = 'none' | 'drop-commit' | 'drop-answer';

/** Starts a proxy before a PostgreSQL server that can lose a COMMIT or its answer. */
export async function startCuttingProxy(url: string) {
  const target = new URL(url);
  const { port, hostname } = target;
  const sockets = new Set<Socket>();
  let fault: CommitFault = 'none';
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let dropsAnswers = false;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', end);
    }
    client.on('data', (bytes) => {
      const isCut = fault !== 'none' && bytes.includes(COMMIT);
      if (!isCut) {
        upstream.write(bytes);
        return;
      }
      cuts++;
      const kind = fault;
      fault = 'none';
      if (kind === 'drop-commit') end();
      else {
        dropsAnswers = true;
        upstream.write(bytes);
      }
    });
    upstream.on('data', (bytes) => {
      if (dropsAnswers) end();
      else client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    /** Applies a fault to the next COMMIT. */
    cutNext(kind: CommitFault): void {
      fault = kind;
    },
    cuts: () => cuts,
    /** Ends all connections. New ones are accepted. */
    endConnections(): void {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    close(): void {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
