import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The name of a message from the client, as it is in its bytes. */
const COMMIT = Buffer.from('COMMIT\0');

/**
 * How a proxy treats a COMMIT: it forwards it, drops it, forwards it and drops the answer, or forwards it only when the test wants
 * that. In all but the first case it ends the connection of the client.
 */
export type CommitFault = 'none' | 'drop-commit' | 'drop-answer' | 'delay-commit';

/** Starts a proxy before a PostgreSQL server that can lose a COMMIT or its answer. */
export async function startCuttingProxy(url: string) {
  const target = new URL(url);
  const { port, hostname } = target;
  const sockets = new Set<Socket>();
  let fault: CommitFault = 'none';
  let cuts = 0;
  let isRefusing = false;
  let isFrozen = false;
  let rewritten: { from: string; to: string } | null = null;
  const delayed: (() => void)[] = [];
  // Half-open connections are allowed, because a frozen proxy does not answer the end of a connection.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (isRefusing) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    let dropsAnswers = false;
    let isDelayed = false;
    const end = (): void => {
      client.destroy();
      if (!isDelayed) upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', end);
      socket.on('end', () => {
        if (!isFrozen) end();
      });
    }
    client.on('data', (bytes) => {
      if (isFrozen) return;
      const isCut = fault !== 'none' && bytes.includes(COMMIT);
      if (!isCut) {
        upstream.write(rewritten === null ? bytes : replaced(bytes, rewritten));
        return;
      }
      cuts++;
      const kind = fault;
      fault = 'none';
      if (kind === 'delay-commit') {
        isDelayed = true;
        delayed.push(() => upstream.write(bytes));
      }
      if (kind !== 'drop-answer') end();
      else {
        dropsAnswers = true;
        upstream.write(bytes);
      }
    });
    upstream.on('data', (bytes) => {
      if (isFrozen) return;
      if (dropsAnswers) end();
      else if (!isDelayed) client.write(bytes);
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
    /** Sends the commits that were delayed. */
    sendDelayed(): void {
      for (const send of delayed.splice(0)) send();
    },
    /** Refuses new connections, or accepts them again. */
    refuse(isRefused: boolean): void {
      isRefusing = isRefused;
    },
    /** Drops everything from now on without ending a connection, as a cut network does. */
    freeze(): void {
      isFrozen = true;
    },
    /** Replaces a part of all statements from now on. The new text must not be longer. */
    rewrite(from: string, to: string): void {
      if (to.length > from.length) throw new Error(`'${to}' is too long`);
      rewritten = { from, to: to.padEnd(from.length) };
    },
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

function replaced(bytes: Buffer, { from, to }: { from: string; to: string }): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');
}
