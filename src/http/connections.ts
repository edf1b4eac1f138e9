import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bareAnswer } from './bare.ts';

const MOST = 2000;
/** For the store, for output that is read, and for what the runtime needs. */
const SPARE_FILES = 64;
/** Where the system does not tell: what the most cautious one gives. */
const USUAL_FILES = 256;

/** So many connections, whatever else has to be opened beside them. */
export function mostConnections(openFiles: number): number {
  return Math.max(16, Math.min(MOST, openFiles - SPARE_FILES));
}

export function openFileLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? USUAL_FILES : Number(soft);
  } catch {
    return USUAL_FILES;
  }
}

/** Answers what has to be told of every request with the token. */
export type Trust = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * There is always room for one more: the one that has been silent, or unknown, for longest goes. Only when all are busy with
 * requests of those who have the token is a new one sent away.
 */
export function limitConnections(server: Server, most: number): Trust {
  const trusted = new Map<Socket, number>();
  const others = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    others.add(socket);
    socket.once('close', () => {
      others.delete(socket);
      trusted.delete(socket);
    });
    if (others.size + trusted.size <= most) return;
    const [oldest] = others as Iterable<Socket>;
    others.delete(oldest!);
    if (oldest === socket) socket.end(bareAnswer(503, 'too many connections'), () => socket.destroy());
    else oldest!.destroy();
  });
  return ({ socket }, outgoing) => {
    trusted.set(socket, (trusted.get(socket) ?? 0) + 1);
    others.delete(socket);
    outgoing.once('close', () => {
      const left = (trusted.get(socket) ?? 1) - 1;
      trusted.set(socket, left);
      if (left > 0) return;
      trusted.delete(socket);
      if (!socket.destroyed) others.add(socket);
    });
  };
}
