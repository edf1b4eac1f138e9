import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts a reverse proxy that serves the dashboard below `prefix`, which it removes from forwarded requests. */
export async function startProxy(prefix: string) {
  const portFinder = await listen(createServer());
  const port = String(portOf(portFinder));
  await new Promise((resolve) => portFinder.close(resolve));
  const server = createServer((incoming, outgoing) => {
    if (!incoming.url!.startsWith(`${prefix}/`)) {
      outgoing.writeHead(404).end();
      return;
    }
    const { method, headers } = incoming;
    const path = incoming.url!.slice(prefix.length);
    const forwarded = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await listen(server);
  return {
    url: `http://127.0.0.1:${portOf(server)}${prefix}/`,
    /** The port to which the proxy forwards requests. */
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function listen(server: Server): Promise<Server> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
