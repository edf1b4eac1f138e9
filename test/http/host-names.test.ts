import { expect, test } from 'bun:test';
import { QueueError } from '../../src/core/errors.ts';
import { hostNamesOf, isLoopback, plainHost } from '../../src/http/host-names.ts';
import { checkHost, checkOrigin } from '../../src/http/request-checks.ts';

const LISTENING = { host: '127.0.0.1', addresses: ['127.0.0.1', '::1'], port: 7780 };
const namesFor = (url: string) => hostNamesOf(LISTENING, new URL(url), null);
const acceptsHost = (names: ReturnType<typeof namesFor>, host: string): boolean =>
  doesNotThrow(() => checkHost(host, names.hosts));
const acceptsOrigin = (names: ReturnType<typeof namesFor>, origin: string): boolean =>
  doesNotThrow(() => checkOrigin((name) => (name === 'origin' ? origin : undefined), names.origins));

function doesNotThrow(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof QueueError) return false;
    throw error;
  }
}

test('behind a proxy only the public origin and loopback names are accepted, and a default port is optional', () => {
  const rows: [
    publicUrl: string,
    ...[hosts: string[], refusedHosts: string[], origins: string[], refusedOrigins: string[]],
  ][] = [
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
  for (const [url, hosts, refusedHosts, origins, refusedOrigins] of rows) {
    const names = namesFor(url);
    for (const host of hosts) expect({ host, ok: acceptsHost(names, host) }).toEqual({ host, ok: true });
    for (const host of refusedHosts)
      expect({ host, ok: acceptsHost(names, host) }).toEqual({ host, ok: false });
    for (const origin of origins)
      expect({ origin, ok: acceptsOrigin(names, origin) }).toEqual({ origin, ok: true });
    for (const origin of refusedOrigins)
      expect({ origin, ok: acceptsOrigin(names, origin) }).toEqual({ origin, ok: false });
  }
});

test('loopback addresses are recognised in upper case, in brackets and as a name', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', 'LocalHost', '::1', '[::1]'])
    expect({ host, loopback: isLoopback(plainHost(host)) }).toEqual({ host, loopback: true });
  for (const host of ['0.0.0.0', '::', '[::]', '127.0.0.1.example', '10.0.0.1', 'localhost.example', ''])
    expect({ host, loopback: isLoopback(plainHost(host)) }).toEqual({ host, loopback: false });
});
