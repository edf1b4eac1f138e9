import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP, isIPv4 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

/** The addresses that `localhost`, and every name below it, stands for. */
const LOOPBACK = ['127.0.0.1', '::1'];

/** Returns a host in the form that `listen` takes: without brackets, in lower case, and the shortest form of an address. */
export function plainHost(host: string): string {
  const plain = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return isIP(plain) === 0 ? plain : new URL(`http://${withBrackets(plain)}`).hostname.replace(/[[\]]/g, '');
}

/** Tells whether the host stands for both loopback addresses. A server with such a host listens on both. */
export function isLocalhost(host: string): boolean {
  return host === 'localhost' || LOOPBACK.includes(host);
}

/** Tells whether a host name of a URL stands for 127.0.0.1 or ::1. */
export const isLocalName = (name: string): boolean =>
  LOOPBACK.map(withBrackets).includes(name) || /^(.*\.)?(ip6-)?(localhost|loopback)\.?$/.test(name);

/** Tells whether only this machine can reach the host. */
export function isLoopback(host: string): boolean {
  return isLocalhost(host) || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Returns all addresses that the host stands for. */
export async function addressesOf(host: string): Promise<string[]> {
  if (isLocalhost(host)) return LOOPBACK;
  return isIP(host) === 0 ? (await lookup(host, { all: true })).map(({ address }) => address) : [host];
}

/** Tells whether the machine has this address. */
export const hasAddress = (address: string): boolean => localAddresses().includes(address);

const localAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));

/**
 * Returns a new name for the dashboard. Browsers resolve it to the loopback addresses. Nobody knew it before, so no browser has
 * anything stored for it, such as a service worker of another program that had the same port.
 */
export const newOwnName = (): string => `q-${randomBytes(8).toString('hex')}.localhost`;

/** The host names that a server answers to. */
export type HostNames = ReturnType<typeof hostNamesOf>;

/** Describes where a server listens. */
export interface Listening {
  host: string;
  addresses: readonly string[];
  port: number;
}

/** Returns the names of a server. A proxy at `url` adds its own host names, and its exact origin. */
export function hostNamesOf(listening: Listening, url: URL | null, ownName: string | null) {
  const { port } = listening;
  const names = namesOf(listening).flatMap((name) => withPort(name, port, 80));
  const hosts = [...names, ...(url === null ? [] : hostsOf(url))];
  const own = ownName === null ? [] : withPort(ownName, port, 80);
  const pages = ownName === null ? hosts : own;
  const origins = (ownName === null ? names : own).map((name) => `http://${name}`);
  return {
    hosts: new Set([...hosts, ...own]),
    /** The hosts that also have the pages of the dashboard. */
    pages: new Set(pages),
    /** The origins of the pages. */
    origins: new Set([...origins, ...(url === null ? [] : [url.origin])]),
  };
}

/** Returns the names of the server. If it does not listen on every address of a name, another program may own that name, too. */
function namesOf({ host, addresses }: Listening): string[] {
  const isOwn = (address: string): boolean =>
    addresses.some((one) => one === address || one === '::' || (one === '0.0.0.0' && isIPv4(address)));
  const local = localAddresses();
  const names = [host, ...addresses, ...local.filter(isOwn)].map(withBrackets);
  if (LOOPBACK.every((one) => isOwn(one) || !local.includes(one))) names.push('localhost');
  // The name of the machine may stand for any of its addresses, and for 127.0.1.1.
  if ([...local, '127.0.1.1'].every(isOwn)) names.push(hostname().toLowerCase());
  return names;
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
