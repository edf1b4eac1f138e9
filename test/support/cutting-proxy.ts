import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Parts of the messages of a client, as they are in its bytes. */
const COMMIT = Buffer.from('COMMIT\0');
const BEGIN = Buffer.from('BEGIN ISOLATION LEVEL');
const READ_ONLY = Buffer.from('READ ONLY');
/** A message that prepares a statement: its length, the name and the text. */
const PARSE = /P[\s\S]{4}(\w+)\0([^\0]+)\0/g;

/**
 * How a proxy treats a COMMIT: it forwards it, drops it, forwards it and drops the answer, forwards it and does not wait for the
 * answer, or forwards it only when the test wants that. In all but the first case it ends the connection of the client.
 */
export type CommitFault = 'none' | 'drop-commit' | 'drop-answer' | 'drop-client' | 'delay-commit';

interface CutOptions {
  /** Only a COMMIT is cut that follows a statement with this text in its transaction. */
  after: string;
  /** Is called once, when the COMMIT was sent and its answer is lost, and before the proxy ends the connection of the client. */
  whenCut(): void;
}
const ANY_COMMIT: CutOptions = { after: '', whenCut() {} };

/** Returns a function that tells whether a transaction has sent a statement. It gets all bytes of one client. */
function statementWatch(): (bytes: Buffer, text: string) => boolean {
  /** The texts of the prepared statements, by name. */
  const prepared = new Map<string, string>();
  let sent = '';
  return (bytes, text) => {
    const message = bytes.toString('latin1');
    for (const [, name, statement] of message.matchAll(PARSE)) prepared.set(name!, statement!);
    sent = bytes.includes(BEGIN) ? message : `${sent}${message}`;
    return (
      sent.includes(text) ||
      [...prepared].some(([name, statement]) => statement.includes(text) && sent.includes(`\0${name}\0`))
    );
  };
}

/** Starts a proxy before a PostgreSQL server that can lose a COMMIT or its answer. It listens on `address`. */
export async function startCuttingProxy(url: string, address = '127.0.0.1') {
  const target = new URL(url);
  const { port, hostname } = target;
  const sockets = new Set<Socket>();
  let fault: CommitFault = 'none';
  let { after, whenCut } = ANY_COMMIT;
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
    /** Is called instead of forwarding the next answer, or if a side ends its connection before that. */
    let whenAnswerIsLost: (() => void) | null = null;
    let isWriting = true;
    const hasSent = statementWatch();
    /** Whether the connection to the server outlives that of the client. */
    let isKept = false;
    const end = (): void => {
      whenAnswerIsLost?.();
      whenAnswerIsLost = null;
      client.destroy();
      if (!isKept) upstream.destroy();
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
      if (bytes.includes(BEGIN)) isWriting = !bytes.includes(READ_ONLY);
      const isCut = hasSent(bytes, after) && fault !== 'none' && isWriting && bytes.includes(COMMIT);
      if (!isCut) {
        upstream.write(rewritten === null ? bytes : replaced(bytes, rewritten));
        return;
      }
      cuts++;
      const kind = fault;
      fault = 'none';
      isKept = kind === 'delay-commit' || kind === 'drop-client';
      if (kind === 'delay-commit') delayed.push(() => upstream.write(bytes));
      if (kind === 'drop-client') upstream.end(bytes);
      if (kind === 'drop-answer') {
        whenAnswerIsLost = whenCut;
        upstream.write(bytes);
      } else {
        whenCut();
        end();
      }
    });
    upstream.on('data', (bytes) => {
      if (isFrozen) return;
      if (whenAnswerIsLost !== null) end();
      else if (!isKept) client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  target.hostname = address;
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    /** Applies a fault to the next COMMIT of a transaction that may write. */
    cutNext(kind: CommitFault, options: Partial<CutOptions> = {}): void {
      fault = kind;
      ({ after, whenCut } = { ...ANY_COMMIT, ...options });
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
    /** Drops everything without ending a connection, as a cut network does, or forwards again. */
    freeze(isCut = true): void {
      isFrozen = isCut;
    },
    /** Replaces a part of all statements from now on. The new text must not be longer. */
    rewrite(from: string, to: string): void {
      if (to.length > from.length) throw new Error(`'${to}' is too long`);
      rewritten = { from, to: to.padEnd(from.length) };
    },
    /** Ends all connections and returns how many there were. New ones are accepted. */
    endConnections(): number {
      // Each connection has a socket on either side.
      const ended = [...sockets].filter((socket) => !socket.destroyed).length / 2;
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      return Math.ceil(ended);
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
