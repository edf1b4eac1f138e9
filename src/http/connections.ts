import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { maybeRead } from '../files/maybe-read.ts';
import { rawAnswer } from './raw-answer.ts';

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

/** Marks the connection of a request with a valid token as trusted until the request has been answered. */
export type MarkTrusted = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Limits the number of connections. A new connection beyond the limit replaces the oldest one without a trusted request in
 * progress. The new connection is refused only if every other one has such a request.
 */
export function limitConnections(server: Server, limit: number): MarkTrusted {
  const trustedRequests = new Map<Socket, number>();
  const untrusted = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    untrusted.add(socket);
    socket.once('close', () => {
      untrusted.delete(socket);
      trustedRequests.delete(socket);
    });
    if (untrusted.size + trustedRequests.size <= limit) return;
    const [oldest] = untrusted as Iterable<Socket>;
    untrusted.delete(oldest!);
    if (oldest === socket) socket.end(rawAnswer(503, 'too many connections'), () => socket.destroy());
    else oldest!.destroy();
  });
  return ({ socket }, outgoing) => {
    trustedRequests.set(socket, (trustedRequests.get(socket) ?? 0) + 1);
    untrusted.delete(socket);
    outgoing.once('close', () => {
      const remaining = (trustedRequests.get(socket) ?? 1) - 1;
      trustedRequests.set(socket, remaining);
      if (remaining > 0) return;
      trustedRequests.delete(socket);
      if (!socket.destroyed) untrusted.add(socket);
    });
  };
}
