import { expect, test } from 'bun:test';
import { QueueError } from '../../src/core/errors.ts';
import { mostConnections } from '../../src/http/connections.ts';
import { checkHost, checkOrigin } from '../../src/http/guard.ts';
import { hostNamesOf, isLoopback, plainHost } from '../../src/http/host-names.ts';

const behind = (url: string) => hostNamesOf('127.0.0.1', 7780, new URL(url));
const isNamed = (names: ReturnType<typeof behind>, host: string): boolean =>
  passes(() => checkHost(host, names.hosts));
const isOwn = (names: ReturnType<typeof behind>, origin: string): boolean =>
  passes(() => checkOrigin((name) => (name === 'origin' ? origin : undefined), names.origins));

function passes(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof QueueError) return false;
    throw error;
  }
}

test('behind a proxy only the public origin is accepted, with or without its default port', () => {
  const rows: [url: string, hosts: string[], not: string[], origins: string[], foreign: string[]][] = [
    [
      'https://ops.example.org/queue/',
      ['ops.example.org', 'ops.example.org:443', 'OPS.example.org', '127.0.0.1:7780', '[::1]:7780'],
      ['ops.example.org:80', 'ops.example.org.', 'example.org', '127.0.0.1'],
      ['https://ops.example.org', 'http://localhost:7780'],
      ['http://ops.example.org', 'https://ops.example.org:8443', 'https://127.0.0.1:7780', 'null'],
    ],
    [
      'http://ops.example.org:8080/',
      ['ops.example.org:8080'],
      ['ops.example.org', 'ops.example.org:80'],
      ['http://ops.example.org:8080'],
      ['https://ops.example.org:8080', 'http://ops.example.org'],
    ],
  ];
  for (const [url, hosts, not, origins, foreign] of rows) {
    const names = behind(url);
    for (const host of hosts) expect({ host, named: isNamed(names, host) }).toEqual({ host, named: true });
    for (const host of not) expect({ host, named: isNamed(names, host) }).toEqual({ host, named: false });
    for (const origin of origins)
      expect({ origin, own: isOwn(names, origin) }).toEqual({ origin, own: true });
    for (const origin of foreign)
      expect({ origin, own: isOwn(names, origin) }).toEqual({ origin, own: false });
  }
});

test('loopback addresses are recognised however they are written', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', 'LocalHost', '::1', '[::1]'])
    expect({ host, own: isLoopback(plainHost(host)) }).toEqual({ host, own: true });
  for (const host of ['0.0.0.0', '::', '[::]', '127.0.0.1.example', '10.0.0.1', 'localhost.example', ''])
    expect({ host, own: isLoopback(plainHost(host)) }).toEqual({ host, own: false });
});

test('the connection limit leaves files to the rest of the server', () => {
  expect([20, 120, 1024, 1_000_000].map(mostConnections)).toEqual([16, 56, 960, 2000]);
});
