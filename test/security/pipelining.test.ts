/** Tests clients that send many requests on a connection without waiting for the answers. */

import { expect } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Site, serve } from '../support/http.ts';
import { type Running, type Sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const CONNECTIONS = 300;
const REQUESTS = 1000;
/** The memory of the server must grow by less than this. */
const GROWTH_LIMIT_MIB = 150;

const memoryMiB = (site: Site): number => {
  const status = readFileSync(`/proc/${site.server.pid}/status`, 'latin1');
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
};

const openFileCount = (site: Site): number => readdirSync(`/proc/${site.server.pid}/fd`).length;

/** The dashboard's files are at an address of their own. */
const hostOf = (site: Site, path: string): string =>
  path.startsWith('/assets/') ? site.pageHost : `127.0.0.1:${site.port}`;

const assetPath = async (site: Site): Promise<string> => {
  const { text } = await site.call('GET', '/', { token: null, headers: { host: site.pageHost } });
  return `/${/assets\/main-[^"]+\.js/.exec(text)![0]}`;
};

const requestText = (site: Site, path: string, count: number, token = 'x'): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${hostOf(site, path)}\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(
    count,
  );

/** Starts a process that sends the same bytes on many connections and never reads. */
function flood(box: Sandbox, site: Site, bytes: string): Running {
  const through = [
    'python3',
    join(import.meta.dir, '../support/flood.py'),
    String(site.port),
    String(CONNECTIONS),
  ];
  return box.start([], { through, stdin: bytes });
}

/** Floods the server until it has closed the connections or uses too much memory. Returns the peak growth in MiB. */
async function peakGrowth(box: Sandbox, site: Site, bytes: string): Promise<number> {
  const [memoryBefore, filesBefore] = [memoryMiB(site), openFileCount(site)];
  const flooding = flood(box, site, bytes);
  await until(() => flooding.stdout().includes('sent'), 'everything is sent');
  // Connections are accepted in order, so the answer to this request shows that all others were accepted.
  let othersAccepted = false;
  const done = (): void => {
    othersAccepted = true;
  };
  site.call('GET', '/healthz').then(done, done);
  let peak = 0;
  await until(() => {
    peak = Math.max(peak, memoryMiB(site) - memoryBefore);
    return peak >= GROWTH_LIMIT_MIB || (othersAccepted && openFileCount(site) <= filesBefore + 1);
  }, 'the server has closed the connections');
  return peak;
}

for (const who of ['without the token', 'with the token']) {
  test(`${CONNECTIONS} connections that send ${REQUESTS} requests each and never read are closed, ${who}`, async (box) => {
    const site = await serve(box);
    const path = who === 'with the token' ? '/api/v1/openapi.json' : await assetPath(site);
    const token = who === 'with the token' ? site.token : 'x';
    const bytes = requestText(site, path, REQUESTS, token);
    expect(await peakGrowth(box, site, bytes)).toBeLessThan(GROWTH_LIMIT_MIB);
    expect((await site.call('GET', '/healthz')).status).toBe(200);
  });
}

test('a connection with too many pending requests is closed, even with the token', async (box) => {
  const site = await serve(box);
  const answers = await site.raw(requestText(site, '/api/v1/jobs', REQUESTS, site.token));
  expect(answers.match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThan(REQUESTS);
  expect((await site.call('GET', '/healthz')).status).toBe(200);
});

test('a client with 60 pipelined requests gets all answers in order, even if it reads late', async (box) => {
  const site = await serve(box);
  const asset = await assetPath(site);
  const size = (await site.call('GET', asset, { token: null, headers: { host: site.pageHost } })).text.length;
  const paths = Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? asset : '/healthz'));
  const bytes = paths.map((path) => requestText(site, path, 1)).join('');
  const socket = connect(site.port, '127.0.0.1', () => socket.write(bytes));
  socket.pause();
  // When the server answers another connection, it has handled this one as far as it can.
  for (let i = 0; i < 20; i++) await site.call('GET', '/healthz');
  let received = '';
  socket.on('data', (data) => {
    received += data.toString('latin1');
  });
  socket.resume();
  await until(() => received.match(/HTTP\/1\.1 200/g)?.length === 60, 'all are answered');
  const areLong = [...received.matchAll(/content-length: (\d+)/gi)].map(
    ([, length]) => Number(length) > 1000,
  );
  expect(areLong).toEqual(paths.map((path) => path === asset));
  await until(() => received.length > 30 * size, 'all answers are complete');
  socket.destroy();
});

test('after an unknown transfer encoding the connection is closed, and later bytes are not read as a request', async (box) => {
  const site = await serve(box);
  const head = `POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nAuthorization: Bearer ${site.token}\r\n`;
  const body = '0\r\n\r\n';
  for (const coding of [
    'odd',
    'gzip, chunked',
    'chunked, gzip',
    'identity',
    'xchunked',
    'chunked, chunked',
  ]) {
    const text = await site.raw(`${head}Transfer-Encoding: ${coding}\r\n\r\n`);
    expect({ coding, statuses: text.match(/HTTP\/1\.1 \d+/g) }).toEqual({
      coding,
      statuses: ['HTTP/1.1 400'],
    });
    const more = await site.raw(
      `${head}Transfer-Encoding: ${coding}\r\n\r\n${body}${requestText(site, '/healthz', 1)}`,
    );
    expect({ coding, more: more.match(/HTTP\/1\.1 \d+/g) }).toEqual({ coding, more: ['HTTP/1.1 400'] });
  }
});
