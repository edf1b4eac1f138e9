import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type Site, serve } from '../support/http.ts';
import { lines, sandbox, until } from '../support/queuectl.ts';

const box = sandbox();
let site: Site;
beforeAll(async () => {
  site = await serve(box);
});
afterAll(() => box.cleanup());

/** The server must disconnect all slow clients within this time, which is far more than it needs. */
const LIMIT_MS = 60_000;
const MIB = 1024 * 1024;

const ownHeaders = (): string =>
  `Host: 127.0.0.1:${site.port}\r\nAuthorization: Bearer ${site.token}\r\nContent-Type: application/json\r\n`;

interface Client {
  socket: Socket;
  text: string;
  closed: boolean;
}

/** Connects, sends `first`, and then `drip` every 500 ms until the connection is closed. */
function connectSlowly(first: string, drip: string): Client {
  const client: Client = { socket: connect(site.port, '127.0.0.1'), text: '', closed: false };
  const { socket } = client;
  socket.write(first);
  const timer = setInterval(() => socket.writable && socket.write(drip), 500);
  socket.on('data', (data) => {
    client.text += data.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(timer);
    client.closed = true;
  });
  return client;
}

const memoryMiB = (): number =>
  (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${site.server.pid}/status`, 'utf8'))![1]) * 1024) / MIB;

const expectOthersServed = async (): Promise<void> => {
  expect((await site.call('GET', '/healthz')).status).toBe(200);
  expect((await site.call('GET', '/api/v1/jobs')).status).toBe(200);
};

test('a slow client is disconnected and does not delay others', async () => {
  const post = `POST /api/v1/jobs HTTP/1.1\r\n${ownHeaders()}`;
  const rows: [what: string, first: string, drip: string][] = [
    ['nothing at all', '', ''],
    ['headers without an end', 'GET /healthz HTTP/1.1\r\n', 'X-More: x\r\n'],
    ['a body byte by byte', `${post}Content-Length: 90000\r\n\r\n{`, ' '],
    ['chunks without an end', `${post}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, '1\r\n \r\n'],
  ];
  const clients = rows.flatMap(([what, first, drip]) =>
    Array.from({ length: 50 }, () => ({ what, client: connectSlowly(first, drip) })),
  );
  await expectOthersServed();
  const openKinds = (): string[] => [
    ...new Set(clients.filter(({ client }) => !client.closed).map(({ what }) => what)),
  ];
  await until(() => openKinds().length === 0, 'all are closed', LIMIT_MS).catch(() =>
    expect(openKinds()).toEqual([]),
  );
  for (const { client } of clients) expect(client.text).toMatch(/^(HTTP\/1.1 4\d\d|$)/);
  await expectOthersServed();
});

test('a chunked body of 1 GiB is cut off before it uses much memory', async () => {
  const memoryBefore = memoryMiB();
  const piece = Buffer.from(`10000\r\n${' '.repeat(65_536)}\r\n`);
  let sent = 0;
  let text = '';
  const socket = connect(site.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.on('data', (data) => {
    text += data.toString('latin1');
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(`POST /api/v1/jobs HTTP/1.1\r\n${ownHeaders()}Transfer-Encoding: chunked\r\n\r\n`);
  const send = async (): Promise<void> => {
    while (!socket.destroyed && sent < 1024 * MIB) {
      sent += 65_536;
      if (!socket.write(piece)) {
        const drained = new Promise<void>((resolve) => socket.once('drain', () => resolve()));
        await Promise.race([drained, closed]);
      }
    }
  };
  await Promise.all([send(), closed]);
  expect(sent).toBeLessThan(512 * MIB);
  expect(text).toMatch(/^(HTTP\/1.1 413|$)/);
  expect(memoryMiB() - memoryBefore).toBeLessThan(200);
  await expectOthersServed();
});

test('of 1,000 event streams 256 are served and the others refused, jobs continue, and memory stays low', async () => {
  await box.startWorkers('--concurrency', '2');
  const memoryBefore = memoryMiB();
  // Each client reads the start of its answer and nothing after that.
  const request = `GET /api/v1/events HTTP/1.1\r\n${ownHeaders()}\r\n`;
  const heads: string[] = [];
  const sockets = Array.from({ length: 1000 }, (_, i) => {
    const socket = connect(site.port, '127.0.0.1', () => socket.write(request));
    socket.on('error', () => {});
    socket.once('data', (data) => {
      heads[i] = data.toString('latin1').slice(0, 12);
      socket.pause();
    });
    return socket;
  });
  await until(() => heads.filter(Boolean).length === 1000, 'all are answered');
  expect(heads.filter((head) => head === 'HTTP/1.1 200')).toHaveLength(256);
  expect(heads.filter((head) => head === 'HTTP/1.1 503')).toHaveLength(744);
  const out = `${box.directory}/out`;
  const jobs = Array.from({ length: 100 }, (_, i) => ({
    command: `echo ${i} >> '${out}'`,
    tags: { t: 'x'.repeat(2000) },
  }));
  expect((await site.call('POST', '/api/v1/jobs', { body: jobs })).status).toBe(201);
  await until(() => lines(out).length >= 100, 'all have run');
  expect(new Set(lines(out)).size).toBe(100);
  await expectOthersServed();
  expect(memoryMiB() - memoryBefore).toBeLessThan(200);
  for (const socket of sockets) socket.destroy();
  const newStream = await until(() => site.events().catch(() => false as const), 'there is room again');
  newStream.close();
});

test('events that a client does not read do not use up memory', async () => {
  const idle = connect(site.port, '127.0.0.1', () =>
    idle.write(`GET /api/v1/events HTTP/1.1\r\n${ownHeaders()}\r\n`),
  );
  idle.once('data', () => idle.pause());
  const ids = Array.from({ length: 1000 }, (_, i) => `idle-${i}`);
  await site.call('POST', '/api/v1/jobs', { body: ids.map((id) => ({ id, command: 'true', delay: '1d' })) });
  const memoryBefore = memoryMiB();
  for (let round = 0; round < 40; round++) {
    const action = round % 2 === 0 ? 'hold' : 'release';
    const { json } = await site.call('POST', '/api/v1/operations', { body: { action, ids } });
    await until(
      async () => (await site.call('GET', `/api/v1/operations/${json.id}`)).json.state === 'done',
      'it is done',
    );
  }
  expect(memoryMiB() - memoryBefore).toBeLessThan(150);
  idle.destroy();
});

describe('unusual requests', () => {
  test('too many or too long headers are refused', async () => {
    const many = Array.from({ length: 5000 }, (_, i) => `X-${i}: x\r\n`).join('');
    for (const more of [many, `X: ${'x'.repeat(100_000)}\r\n`, `Cookie: ${'a=b; '.repeat(20_000)}\r\n`]) {
      const answer = await site
        .raw(`GET /healthz HTTP/1.1\r\n${ownHeaders()}${more}\r\n`, /\r\n\r\n/)
        .catch(() => '');
      expect(answer).toMatch(/^(HTTP\/1.1 431|$)/);
      await expectOthersServed();
    }
  });

  test('pipelined requests on one connection are answered in order', async () => {
    const paths = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? '/healthz' : `/api/v1/jobs/n${i}`));
    const text = await site.raw(
      paths.map((path) => `GET ${path} HTTP/1.1\r\n${ownHeaders()}\r\n`).join(''),
      /n49/,
    );
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(paths.map((path) => (path === '/healthz' ? '200' : '404')));
  });

  test('a compressed body is refused', async () => {
    const bomb = Bun.gzipSync(Buffer.alloc(8 * MIB, ' '));
    const answer = await fetch(`http://127.0.0.1:${site.port}/api/v1/jobs`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${site.token}`, 'content-encoding': 'gzip' },
        'content-type': 'application/json',
      },
      body: bomb,
    });
    expect(answer.status).toBe(400);
  });

  test('deeply nested JSON is refused', async () => {
    for (const body of ['['.repeat(500_000), `${'['.repeat(300_000)}${']'.repeat(300_000)}`]) {
      expect((await site.call('POST', '/api/v1/jobs', { body })).status).toBe(400);
      await expectOthersServed();
    }
  });

  test('no unusual path or body causes a server error, and no answer to such a path reveals internals', async () => {
    const oddTexts = [
      ...[
        "'; DROP TABLE job; --",
        '{{7*7}}',
        '$(id)',
        '`id`',
        '<svg/onload=alert(1)>',
        '\r\nSet-Cookie: a=b',
      ],
      ...[
        '__proto__',
        'constructor',
        'toString',
        '\u202e',
        '\ufeff',
        '𝒳',
        'a'.repeat(2000),
        '%',
        '%25',
        '%2525',
        '.',
        '...',
      ],
      ...['NaN', '-1', '1e309', '9'.repeat(400), 'null', 'undefined', 'true', '[]', '{}'],
    ];
    for (const text of oddTexts) {
      const part = encodeURIComponent(text);
      for (const path of [
        ...[
          `/api/v1/jobs/${part}`,
          `/api/v1/jobs/${part}/output`,
          `/api/v1/queues/${part}`,
          `/api/v1/config/${part}`,
        ],
        ...[`/api/v1/jobs?search=${part}`, `/api/v1/jobs?state=${part}`, `/api/v1/jobs?where=${part}`],
        ...[
          `/api/v1/jobs?tag=${part}`,
          `/api/v1/activity?kind=${part}`,
          `/api/v1/operations/${part}`,
          `/${part}`,
        ],
      ]) {
        // A request for such a path would be sent without its last part.
        if (/\/(\.|%2e)$/.test(path)) continue;
        const answer = await site.call('GET', path);
        expect({ path, status: answer.status < 500 }).toEqual({ path, status: true });
        expect(answer.headers.get('set-cookie')).toBeNull();
        expect(answer.headers.get('content-type')).toMatch(
          /^(application\/(problem\+)?json|text\/(plain|html))/,
        );
        if (answer.status >= 400)
          expect(answer.text).not.toMatch(/node_modules|\.ts\b|SELECT|sqlite|\/tmp\/|at async/i);
      }
      for (const body of [
        { command: text, id: text, delay: '1d' },
        { [text]: text },
        { command: 'true', env: { [text]: text } },
      ]) {
        const answer = await site.call('POST', '/api/v1/jobs', { body });
        expect({ body, status: answer.status < 500 }).toEqual({ body, status: true });
      }
    }
  });
});

test('headers such as X-Forwarded-For do not change the recorded actor', async () => {
  const headers = {
    'x-forwarded-for': '6.6.6.6',
    forwarded: 'for=6.6.6.6',
    'x-real-ip': '6.6.6.6',
    'x-http-method-override': 'DELETE',
  };
  await site.call('POST', '/api/v1/jobs', { body: { id: 'mine', command: 'true', delay: '1d' }, headers });
  const { json } = await site.call('GET', '/api/v1/activity?job=mine');
  expect(json.events.map((one: { actor: string }) => one.actor)).toEqual(['http:127.0.0.1']);
  expect((await site.call('GET', '/api/v1/jobs/mine', { headers })).status).toBe(200);
});
