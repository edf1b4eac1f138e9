/** Tests the limits of a server and its answers when a limit is exceeded. */

import { expect, test as plainTest } from 'bun:test';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { maxConnections } from '../../src/http/connections.ts';
import { tokenBucket } from '../../src/http/request-checks.ts';
import { type Site, serve } from '../support/http.ts';
import { sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { addJobs, expectOk, expectRefused, TOMORROW } from './api/calls.ts';

/** Opens connections that send `first` and then nothing. `open` returns how many are still open. */
function openIdleConnections(site: Site, count: number, first = ''): { sockets: Socket[]; open(): number } {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(site.port, '127.0.0.1', () => socket.write(first));
    socket.on('error', () => {});
    return socket.resume();
  });
  return { sockets, open: () => sockets.filter((socket) => !socket.closed).length };
}

plainTest('the connection limit keeps file descriptors free for the rest of the server', () => {
  expect([20, 120, 1024, 1_000_000].map(maxConnections)).toEqual([16, 56, 960, 2000]);
});

plainTest('idle connections do not block other clients, because most of them are closed', async () => {
  // The server may open only 120 files. Without a connection limit, the idle connections would use up all of them.
  const box = sandbox(['sh', '-c', 'ulimit -n 120; exec "$0" "$@"']);
  try {
    const site = await serve(box);
    const stream = await site.events();
    for (const first of ['', 'GET / HTTP/1.1\r\n', 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n']) {
      const { sockets, open } = openIdleConnections(site, 300, first);
      await until(() => open() <= 60, 'most are closed');
      for (let i = 0; i < 10; i++) {
        expect((await site.call('GET', '/healthz', { token: null })).status).toBe(200);
        expect((await site.call('GET', '/api/v1/jobs')).status).toBe(200);
      }
      for (const socket of sockets) socket.destroy();
    }
    // A stream of a client with a valid token stays open.
    await addJobs(site, { id: 'seen', command: 'true', ...TOMORROW });
    await until(() => stream.seen.length > 0, 'the stream goes on');
    expect(stream.isOver).toBe(false);
    stream.close();
  } finally {
    await box.cleanup();
  }
});

plainTest('when all connections serve clients with valid tokens, a new one is refused', async () => {
  const box = sandbox(['sh', '-c', 'ulimit -n 120; exec "$0" "$@"']);
  try {
    const site = await serve(box);
    const head = `Host: 127.0.0.1:${site.port}\r\nAuthorization: Bearer ${site.token}\r\n`;
    const { sockets, open } = openIdleConnections(site, 100, `GET /api/v1/events HTTP/1.1\r\n${head}\r\n`);
    await until(() => open() <= 60, 'some are closed');
    const text = await site.raw(`GET /healthz HTTP/1.1\r\n${head}\r\n`, /\n$/);
    expect(text).toMatch(/^HTTP\/1\.1 503 /);
    expect(text).toContain('x-content-type-options: nosniff');
    for (const socket of sockets) socket.destroy();
    await until(
      async () => (await site.call('GET', '/healthz').catch(() => null))?.status === 200,
      'there is room again',
    );
  } finally {
    await box.cleanup();
  }
});

plainTest('streams and connections of the read-only token leave room for the full token', async () => {
  for (const limit of [120, 1000]) {
    const box = sandbox(['sh', '-c', `ulimit -n ${limit}; exec "$0" "$@"`]);
    try {
      const site = await serve(box);
      const readOnly = readFileSync(join(box.stateDirectory(), 'token-read-only'), 'utf8').trim();
      const head = `Host: 127.0.0.1:${site.port}\r\nAuthorization: Bearer ${readOnly}\r\n`;
      const { sockets } = openIdleConnections(site, 300, `GET /api/v1/events HTTP/1.1\r\n${head}\r\n`);
      let answers = 0;
      for (const socket of sockets) socket.once('data', () => answers++).once('close', () => answers++);
      await until(() => answers >= sockets.length, 'each connection has an answer or is closed');
      const streams = await Promise.all([site.events(), site.events(), site.events()]);
      expect(streams.map((stream) => stream.isOver)).toEqual([false, false, false]);
      for (const stream of streams) stream.close();
      for (const socket of sockets) socket.destroy();
    } finally {
      await box.cleanup();
    }
  }
});

plainTest('a token bucket allows bursts, can go into debt with one large request, and refills', () => {
  let now = 0;
  const take = tokenBucket(() => now, 10, 10_000);
  for (let i = 0; i < 100; i++) expect(take()).toBe(0);
  expect(take()).toBe(1);
  now += 100;
  expect(take(51)).toBe(0);
  expect(take()).toBe(6);
  now += 5100;
  expect(take()).toBe(0);
  expect(take()).toBe(1);
});

test('too many changes are refused without effect, and reads are still answered', async (box) => {
  const site = await serve(box, '--max-rate', '1');
  const jobs = Array.from({ length: 1000 }, (_, i) => ({ id: `j${i}`, command: 'true', ...TOMORROW }));
  // An array may have more jobs than the bucket holds. Otherwise it could never be added.
  await addJobs(site, jobs);
  const body = { id: 'more', command: 'true' };
  const refusal = await expectRefused(site, ['POST', '/api/v1/jobs'], { body }, [429, 'too-many-changes']);
  expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(900);
  await expectRefused(site, ['POST', '/api/v1/jobs/j0/cancel'], {}, [429, 'too-many-changes']);
  await expectRefused(site, ['DELETE', '/api/v1/jobs/j0'], {}, [429, 'too-many-changes']);
  expect((await expectOk(site, 'GET', '/api/v1/jobs?state=pending')).count.value).toBe(1000);
  expect((await box.run(['serve', '--max-rate', '0'])).code).toBe(2);
});

test('by default 30,000 jobs in consecutive arrays are accepted', async (box) => {
  const site = await serve(box);
  const body = Array.from({ length: 1000 }, () => ({ command: 'true', ...TOMORROW }));
  for (let i = 0; i < 30; i++) await addJobs(site, body);
  expect((await expectOk(site, 'GET', '/api/v1/stats')).jobs.pending).toBe(30_000);
});

test('at most 16 operations run at a time, and another can start when one ends', async (box) => {
  const site = await serve(box);
  await addJobs(site, { id: 'a', command: 'true', ...TOMORROW });
  const body = {
    action: 'hold',
    ids: ['a', ...Array.from({ length: 1000 }, (_, i) => `n${i}`)],
    per_second: 1,
  };
  const ids: string[] = [];
  for (let i = 0; i < 16; i++) ids.push((await expectOk(site, 'POST', '/api/v1/operations', body, 202)).id);
  const refusal = await expectRefused(site, ['POST', '/api/v1/operations'], { body }, [
    429,
    'too-many-operations',
  ]);
  expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0);
  await expectOk(site, 'DELETE', `/api/v1/operations/${ids[0]}`);
  const another = { action: 'release', ids: ['a'] };
  await until(
    async () => (await site.call('POST', '/api/v1/operations', { body: another })).status === 202,
    'there is room for another',
  );
});

test('the start, actor and end of an operation are recorded, even if the server is stopped before the operation ends', async (box) => {
  const site = await serve(box);
  await addJobs(
    site,
    [1, 2, 3, 4].map((i) => ({ id: `o${i}`, command: 'true', ...TOMORROW })),
  );
  const recorded = async (operation: string) =>
    (await box.run(['events', '--json'])).stdout
      .split('\n')
      .filter((line) => line.includes(operation))
      .map((line) => JSON.parse(line));
  const body = { action: 'hold', ids: ['o1', 'o2', 'nobody'] };
  const { id } = await expectOk(site, 'POST', '/api/v1/operations', body, 202);
  const both = await until(async () => {
    const seen = await recorded(id);
    return seen.length === 2 ? seen : false;
  }, 'both are recorded');
  const common = { actor: 'http:127.0.0.1', operation: id, action: 'hold', jobs: 3 };
  expect(both[0]).toMatchObject({ kind: 'operation-begun', ...common });
  expect(both[1]).toMatchObject({ kind: 'operation-ended', ...common, state: 'done', changed: 2 });

  const slow = {
    action: 'cancel',
    ids: ['o1', 'o2', 'o3', ...Array.from({ length: 900 }, (_, i) => `n${i}`)],
  };
  const stopped = await expectOk(site, 'POST', '/api/v1/operations', { ...slow, per_second: 1 }, 202);
  await until(async () => (await recorded(stopped.id)).length === 1, 'the operation has begun');
  process.kill(site.server.pid, 'SIGTERM');
  expect(await site.server.closed).toBe(0);
  const [begun, ended] = await recorded(stopped.id);
  expect(begun).toMatchObject({ jobs: 903 });
  expect(ended).toMatchObject({ kind: 'operation-ended', state: 'stopped' });
  const cancelled = await box.json<{ id: string }[]>(['list', '--state', 'cancelled']);
  expect(ended.changed).toBe(cancelled.length);
  expect(ended.jobs).toBeLessThan(903);
});
