import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { QueueError } from '../core/errors.ts';
import { addressesOf, hasAddress, type Listening, withBrackets } from './host-names.ts';

/** A free port of one address may be in use on another one. Then another port is tried. */
const MAX_PORT_TRIES = 20;

/** Listens with the same port on all addresses of the host, or on none, so that every name of the host belongs to this server. */
export async function listenOnAll(
  newServer: () => Server,
  host: string,
  port: number,
): Promise<Listening & { servers: Server[] }> {
  for (let triesLeft = port === 0 ? MAX_PORT_TRIES : 1; ; triesLeft--) {
    const listening = { host, addresses: [] as string[], port, servers: [] as Server[] };
    let current = host;
    try {
      for (const address of await addressesOf(host)) {
        current = address;
        const server = newServer();
        try {
          listening.port = await listen(server, address, listening.port);
        } catch (error) {
          // On a machine without ::1, no other program can listen on it either.
          if (address === '::1' && address !== host && !hasAddress(address)) continue;
          throw error;
        }
        listening.servers.push(server);
        listening.addresses.push(address);
      }
      return listening;
    } catch (error) {
      for (const server of listening.servers) server.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || triesLeft === 1)
        throw listenError(error as NodeJS.ErrnoException, `${withBrackets(current)}:${listening.port}`);
    }
  }
}

function listen(server: Server, address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, address, () => resolve((server.address() as AddressInfo).port));
  });
}

function listenError(error: NodeJS.ErrnoException, where: string): unknown {
  const hint = 'to use a free port: queuectl serve --port 0';
  if (error.code === 'EADDRINUSE')
    return new QueueError('port-taken', `another process is already listening on ${where}`, hint);
  if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new QueueError('port-taken', `cannot listen on ${where}: ${error.code}`, hint);
  return error;
}
