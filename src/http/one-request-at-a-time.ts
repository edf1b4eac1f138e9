import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
