import { hostname, networkInterfaces } from 'node:os';

const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/** As it is listened on: `[::1]` and `LOCALHOST` are what they mean. */
export function plainHost(host: string): string {
  return host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
}

/** Nobody but this machine reaches it. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host) || /^127(\.\d{1,3}){3}$/.test(host);
}

/** What a server may rightly be called, and where a page of its own comes from. */
export interface Names {
  hosts: ReadonlySet<string>;
  origins: ReadonlySet<string>;
}

/** A proxy at `url` sends its own name on, or ours; its pages come from its own origin and from no other of that name. */
export function namesOf(host: string, port: number, url: URL | null): Names {
  const named = machineNames(host).flatMap((name) => withPort(name, port, 80));
  return {
    hosts: new Set([...named, ...(url === null ? [] : hostsOf(url))]),
    origins: new Set([...named.map((name) => `http://${name}`), ...(url === null ? [] : [url.origin])]),
  };
}

function machineNames(host: string): string[] {
  const local = [...LOOPBACK, host].map(bracketed);
  if (isLoopback(host)) return local;
  const addresses = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map((one) => bracketed(one.address)),
  );
  return [...local, hostname().toLowerCase(), ...addresses];
}

function hostsOf(url: URL): string[] {
  const usual = url.protocol === 'https:' ? 443 : 80;
  return withPort(url.hostname, url.port === '' ? usual : Number(url.port), usual);
}

/** The usual port may be left out. */
function withPort(name: string, port: number, usual: number): string[] {
  return port === usual ? [`${name}:${port}`, name] : [`${name}:${port}`];
}

export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
