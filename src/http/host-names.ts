import { hostname, networkInterfaces } from 'node:os';

const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/** Returns a host in the form that `listen` takes: without brackets and in lower case. */
export function plainHost(host: string): string {
  return host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
}

/** Tells whether only this machine can reach the host. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host) || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The host names that a server answers to, and the origins of its own pages. */
export interface HostNames {
  hosts: ReadonlySet<string>;
  origins: ReadonlySet<string>;
}

/** Returns the names of a server. A proxy at `url` adds its own host names, and its exact origin. */
export function hostNamesOf(host: string, port: number, url: URL | null): HostNames {
  const names = machineNames(host).flatMap((name) => withPort(name, port, 80));
  return {
    hosts: new Set([...names, ...(url === null ? [] : hostsOf(url))]),
    origins: new Set([...names.map((name) => `http://${name}`), ...(url === null ? [] : [url.origin])]),
  };
}

/** Returns the names by which clients can reach the host. They include all names of this machine unless it is a loopback name. */
function machineNames(host: string): string[] {
  const local = [...LOOPBACK, host].map(withBrackets);
  if (isLoopback(host)) return local;
  const addresses = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map((one) => withBrackets(one.address)),
  );
  return [...local, hostname().toLowerCase(), ...addresses];
}

function hostsOf(url: URL): string[] {
  const defaultPort = url.protocol === 'https:' ? 443 : 80;
  return withPort(url.hostname, url.port === '' ? defaultPort : Number(url.port), defaultPort);
}

/** Returns a name with its port, and without it if the port is the default of the protocol. */
function withPort(name: string, port: number, defaultPort: number): string[] {
  return port === defaultPort ? [`${name}:${port}`, name] : [`${name}:${port}`];
}

/** Puts an IPv6 address in brackets, as URLs need it. */
export function withBrackets(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
