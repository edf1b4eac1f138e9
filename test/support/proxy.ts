import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A reverse proxy as people put one in front: it shows the server below a path, which it takes away before it asks. */
export async function startProxy(prefix: string) {
  const free = await listening(createServer());
  const port = String(portOf(free));
  await new Promise((resolve) => free.close(resolve));
  const server = createServer((incoming, outgoing) => {
    if (!incoming.url!.startsWith(`${prefix}/`)) {
      outgoing.writeHead(404).end();
      return;
    }
    const { method, headers } = incoming;
    const path = incoming.url!.slice(prefix.length);
    const asked = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    asked.on('error', () => outgoing.destroy());
    outgoing.on('close', () => asked.destroy());
    incoming.pipe(asked);
  });
  await listening(server);
  return {
    url: `http://127.0.0.1:${portOf(server)}${prefix}/`,
    /** Where it expects the server. */
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function listening(server: Server): Promise<Server> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
