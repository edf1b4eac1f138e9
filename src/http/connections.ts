import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { maybeRead } from '../files/read.ts';
import type { Role } from './access.ts';
import { SAFE_HEADERS } from './request-checks.ts';

const MAX_CONNECTIONS = 2000;
/** Open files that are reserved for the store, for reading output and for the runtime. */
const SPARE_FILES = 64;
/** The limit of open files that is assumed if the system reports no number. It is the lowest usual limit. */
const ASSUMED_FILES = 256;

/** Returns how many connections the server accepts, given the limit of open files. */
export function maxConnections(openFiles: number): number {
  return Math.max(16, Math.min(MAX_CONNECTIONS, openFiles - SPARE_FILES));
}

/** Returns how many files this process may open. */
export function openFileLimit(): number {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(maybeRead('/proc/self/limits') ?? '') ?? [];
  return soft === undefined ? ASSUMED_FILES : Number(soft);
}

/**
 * Limits the number of connections. A new connection beyond the limit replaces the oldest one without a trusted request in
 * progress. The new connection is refused only if every other one has such a request. Requests of the read-only role are
 * trusted on at most half of the connections, so that they leave room for the full role.
 */
export function limitConnections(limit: number) {
  const trustedRequests = new Map<Socket, number>();
  const untrusted = new Set<Socket>();
  const readOnly = new Set<Socket>();
  const onConnection = (socket: Socket): void => {
    untrusted.add(socket);
    socket.once('close', () => {
      untrusted.delete(socket);
      trustedRequests.delete(socket);
      readOnly.delete(socket);
    });
    if (untrusted.size + trustedRequests.size <= limit) return;
    const [oldest] = untrusted as Iterable<Socket>;
    untrusted.delete(oldest!);
    if (oldest === socket) socket.end(rawAnswer(503, 'too many connections'), () => socket.destroy());
    else oldest!.destroy();
  };
  /** Marks the connection of a request with a valid token as trusted until the request has been answered. */
  const markTrusted = ({ socket }: IncomingMessage, outgoing: ServerResponse, role: Role): void => {
    if (role === 'read-only') {
      if (!readOnly.has(socket) && readOnly.size >= limit / 2) return;
      readOnly.add(socket);
    }
    trustedRequests.set(socket, (trustedRequests.get(socket) ?? 0) + 1);
    untrusted.delete(socket);
    outgoing.once('close', () => {
      const remaining = (trustedRequests.get(socket) ?? 1) - 1;
      trustedRequests.set(socket, remaining);
      if (remaining > 0) return;
      trustedRequests.delete(socket);
      readOnly.delete(socket);
      if (!socket.destroyed) untrusted.add(socket);
    });
  };
  return { watch: (server: Server): Server => server.on('connection', onConnection), markTrusted };
}

/** The maximum number of requests that wait on one connection. */
const MAX_WAITING = 64;

/**
 * Handles the requests of a connection one after the other: each starts when the answer before it has been sent. A client that
 * sends many requests and reads no answers takes the memory of one answer. Beyond MAX_WAITING, its connection is closed.
 */
export function oneRequestAtATime(handle: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>();

  const begin = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = incoming;
    outgoing.once('close', () => {
      const next = socket.destroyed ? undefined : queues.get(socket)?.shift();
      if (next === undefined) queues.delete(socket);
      else begin(...next);
    });
    handle(incoming, outgoing);
  };

  return (incoming, outgoing) => {
    const { socket } = incoming;
    // Node emits all requests of a chunk that it has read, even if the connection was closed at one of them.
    if (socket.destroyed) return;
    const queue = queues.get(socket);
    if (queue === undefined) {
      queues.set(socket, []);
      begin(incoming, outgoing);
    } else if (queue.length < MAX_WAITING) queue.push([incoming, outgoing]);
    else {
      queues.delete(socket);
      socket.destroy();
    }
  };
}

/** Returns the bytes of an HTTP response, for a connection without a valid request. */
function rawAnswer(status: number, message: string): string {
  const headers = {
    ...SAFE_HEADERS,
    'content-type': 'text/plain; charset=utf-8',
    'content-length': message.length + 1,
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${message}\n`;
}

const PARSER_ERROR_STATUSES: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers requests that the HTTP parser refuses, and CONNECT requests, with the same safe headers as all others. */
export function answerInvalidRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable) return void socket.destroy();
    const status = PARSER_ERROR_STATUSES[error.code ?? ''] ?? 400;
    socket.end(rawAnswer(status, STATUS_CODES[status]!), () => socket.destroy());
  });
  server.on('connect', (_request, socket: Socket) => socket.end(rawAnswer(405, STATUS_CODES[405]!)));
}
