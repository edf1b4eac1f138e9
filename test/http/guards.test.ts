import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Route } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { type Answer, type Site, serve } from '../support/http.ts';
import { sandbox, until } from '../support/queuectl.ts';

const box = sandbox();
let site: Site;
beforeAll(async () => {
  await box.run(['enqueue', '--id', 'there', '--delay', '1h', 'echo <b>bold</b>']);
  site = await serve(box);
});
afterAll(() => box.cleanup());

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'FOO'];
const pathOf = (route: Route): string => route.path.replaceAll(/\{\w+\}/g, 'nobody');
const PATHS = [...new Set(ROUTES.map((route) => route.path))];
const protectedRoutes = ROUTES.filter((route) => route.access !== 'open');

const expectError = (answer: Answer, status: number, code: string): void => {
  expect({ status: answer.status, code: answer.json?.code }).toEqual({ status, code });
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  // The answer must not reveal internals such as a stack, a path or SQL.
  expect(answer.text).not.toMatch(/node_modules|\.ts|SELECT|sqlite|\/tmp|\/home|\/root/i);
};

const routesWhere = (predicate: (route: Route) => boolean) =>
  ROUTES.filter(predicate).map(({ method, path }) => `${method} ${path}`);

test('only the health checks need no token', () => {
  expect(routesWhere(({ access }) => access === 'open')).toEqual(['GET /healthz', 'GET /readyz']);
});

test('all routes except GET change the store, apart from login and logout', () => {
  expect(routesWhere(({ method, access }) => (method === 'GET') === (access === 'change'))).toEqual([
    'POST /api/v1/session',
    'DELETE /api/v1/session',
  ]);
});

describe('the checks before a route', () => {
  for (const route of protectedRoutes) {
    const name = `${route.method} ${route.path}`;
    test(`${name} needs the token`, async () => {
      const call = route.body === undefined ? {} : { body: {} };
      for (const token of [null, '', 'x', site.token.slice(1), `${site.token}x`, 'a'.repeat(5000)]) {
        const answer = await site.call(route.method, pathOf(route), { ...call, token });
        expect([401, 429]).toContain(answer.status);
        expect(answer.json.code).toMatch(/^(no-token|too-many-tries)$/);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      }
    });
    test(`${name} is refused under a foreign host name`, async () => {
      for (const host of [
        'evil.example',
        '127.0.0.1.evil.example',
        `127.0.0.1:${site.port + 1}`,
        `localhost.:${site.port}`,
      ]) {
        const answer = await site.call(route.method, pathOf(route), { headers: { host } });
        expectError(answer, 421, 'wrong-host');
      }
    });
    if (route.method !== 'GET') {
      test(`${name} is refused for requests from other sites`, async () => {
        const body = route.body === undefined ? {} : { body: {} };
        for (const headers of [
          { origin: 'null' },
          { origin: 'https://evil.example' },
          { origin: `http://localhost:${site.port + 1}` },
          { 'sec-fetch-site': 'cross-site' },
          { 'sec-fetch-site': 'same-site' },
        ] as Record<string, string>[]) {
          expectError(await site.call(route.method, pathOf(route), { ...body, headers }), 403, 'not-allowed');
        }
      });
    }
    if (route.body !== undefined) {
      test(`${name} accepts JSON only`, async () => {
        for (const type of [
          'text/plain',
          'application/x-www-form-urlencoded',
          'multipart/form-data; boundary=x',
          '',
        ]) {
          const answer = await site.call(route.method, pathOf(route), {
            body: '{}',
            headers: { 'content-type': type },
          });
          expectError(answer, 415, 'unsupported-type');
        }
        for (const body of ['{', '[[[', 'nope', '\ufeff'])
          expectError(await site.call(route.method, pathOf(route), { body }), 400, 'invalid-json');
      });
    }
  }

  for (const path of PATHS) {
    test(`${path} has the methods of the route table and no others`, async () => {
      const known = ROUTES.filter((route) => route.path === path).map((route) => route.method as string);
      const url = path.replaceAll(/\{\w+\}/g, 'nobody');
      const isOpen = ROUTES.every((route) => route.path !== path || route.access === 'open');
      for (const method of METHODS.filter((one) => !known.includes(one))) {
        // fetch does not send these methods, so the request is written to a socket.
        if (method === 'TRACE' || method === 'FOO') {
          for (const token of [site.token, 'wrong']) {
            const bytes = `${method} ${url} HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
            const text = await site.raw(bytes, /\r\n\r\n/);
            expect(text).toMatch(/^HTTP\/1.1 4(00|01|05|29) /);
            expect(text).toContain('nosniff');
          }
          continue;
        }
        const answer = await site.call(method, url);
        expectError(answer, 405, 'wrong-method');
        expect(answer.headers.get('allow')).toBe(known.join(', '));
        const withoutToken = await site.call(method, url, { token: null });
        if (!isOpen) expect([401, 429]).toContain(withoutToken.status);
      }
      const headAnswer = await site.call('HEAD', url);
      expect(headAnswer.text).toBe('');
      expect(headAnswer.status).toBe(known.includes('GET') ? await statusOf(url) : 405);
      const withoutToken = await site.call('HEAD', url, { token: null });
      if (!isOpen) expect([401, 429]).toContain(withoutToken.status);
    });
  }

  for (const route of ROUTES) {
    test(`${route.method} ${route.path} refuses unknown queries and tokens in the URL`, async () => {
      const call = route.body === undefined ? {} : { body: {} };
      for (const query of ['nonsense=1', `token=${site.token}`])
        expectError(await site.call(route.method, `${pathOf(route)}?${query}`, call), 400, 'invalid-request');
    });
  }
});

/** Returns the status of a GET request without reading the body, which may be an endless stream. */
async function statusOf(path: string): Promise<number> {
  const stop = new AbortController();
  const { status } = await fetch(`http://127.0.0.1:${site.port}${path}`, {
    signal: stop.signal,
    headers: { authorization: `Bearer ${site.token}` },
  });
  stop.abort();
  return status;
}

test('no GET or HEAD changes anything, even with headers that override the method', async () => {
  const exportBefore = await exportAll();
  for (const path of PATHS.map((one) => one.replaceAll(/\{\w+\}/g, 'there'))) {
    for (const method of ['GET', 'HEAD']) {
      const stop = new AbortController();
      for (const query of ['', '?_method=DELETE'])
        await fetch(`http://127.0.0.1:${site.port}${path}${query}`, {
          ...{ method, signal: stop.signal },
          headers: {
            authorization: `Bearer ${site.token}`,
            'x-http-method-override': 'DELETE',
            'x-http-method': 'DELETE',
            'x-method-override': 'POST',
          },
        });
      stop.abort();
    }
  }
  expect(await exportAll()).toBe(exportBefore);
});

/** Returns the content of the store and its events. */
async function exportAll(): Promise<string> {
  const [dump, events] = [await box.run(['export']), await box.run(['events', '--json'])];
  expect([dump.code, events.code]).toEqual([0, 0]);
  // The first line is left out, because it contains the time of the export.
  return dump.stdout.slice(dump.stdout.indexOf('\n')) + events.stdout;
}

test('the server accepts each of its own names, in upper or lower case', async () => {
  const names = ['127.0.0.1', 'localhost', 'LOCALHOST', 'LocalHost', '[::1]'];
  for (const name of names) {
    const { status } = await site.call('GET', '/api/v1/jobs', { headers: { host: `${name}:${site.port}` } });
    expect({ name, status }).toEqual({ name, status: 200 });
  }
});

test('the pages have only the host name that is new at each start, and no other origin changes anything', async () => {
  for (const path of ['/', '/jobs', '/nonsense', '/assets/none.js']) {
    const headers = { accept: 'text/html' };
    expectError(await site.call('GET', path, { headers }), 421, 'wrong-host');
    const own = await site.call('GET', path, { headers: { ...headers, host: site.pageHost } });
    expect([200, 404]).toContain(own.status);
  }
  expect(site.pageHost).toMatch(/^q-[0-9a-f]{16}\.localhost:\d+$/);
  for (const host of [site.pageHost, `127.0.0.1:${site.port}`, `localhost:${site.port}`]) {
    const answer = await site.call('POST', '/api/v1/session', {
      headers: { host, origin: `http://${host}` },
    });
    expect({ host, status: answer.status }).toEqual({ host, status: host === site.pageHost ? 201 : 403 });
  }
});

test('a read-only server, token or session changes nothing on any route', async () => {
  const readOnlySite = await serve(box, '--read-only');
  const logIn = async (where: Site, token: string): Promise<string> =>
    (await where.call('POST', '/api/v1/session', { token })).json.session;
  const [full, readOnly] = [site.token, readOnlySite.token];
  expect(readOnly).not.toBe(full);
  const pairs: [where: Site, token: string][] = [
    ...[full, readOnly, await logIn(readOnlySite, full), await logIn(readOnlySite, readOnly)].map(
      (token): [Site, string] => [readOnlySite, token],
    ),
    [site, readOnly],
    [site, await logIn(site, readOnly)],
  ];
  for (const [where, token] of pairs) {
    expect((await where.call('GET', '/api/v1/server', { token })).json.read_only).toBe(true);
    for (const route of ROUTES.filter((one) => one.access === 'change')) {
      const call = route.body === undefined ? { token } : { body: {}, token };
      expectError(await where.call(route.method, pathOf(route), call), 403, 'read-only');
    }
  }
  // Answers for a read-only token are not reused for a full token.
  for (const token of [full, await logIn(site, full)])
    expect((await site.call('GET', '/api/v1/server', { token })).json.read_only).toBe(false);
});

test('the right token is accepted while guesses are refused', async () => {
  // The limit is a rate, so a slow machine may need more than 60 guesses to exceed it.
  const slowed = await until(async () => {
    const wrong = Array.from({ length: 60 }, (_, i) => ({ token: `wrong${i}` }));
    const answers = await Promise.all(wrong.map((one) => site.call('GET', '/api/v1/jobs', one)));
    return answers.find((answer) => answer.status === 429);
  }, 'a guess is refused');
  expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await site.call('GET', '/api/v1/jobs')).status).toBe(200);
});

describe('the server refuses', () => {
  const ownHeaders = (): string => `Host: 127.0.0.1:${site.port}\r\nAuthorization: Bearer ${site.token}\r\n`;
  const rows: [what: string, request: () => string, status: RegExp][] = [
    [
      'two Host headers',
      () => `GET /api/v1/jobs HTTP/1.1\r\n${ownHeaders()}Host: evil.example\r\n\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    [
      'no Host header',
      () => `GET /api/v1/jobs HTTP/1.1\r\nAuthorization: Bearer ${site.token}\r\n\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    [
      'an absolute URL',
      () => `GET http://evil.example/api/v1/jobs HTTP/1.1\r\n${ownHeaders()}\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    ['dots in the path', () => `GET /api/v1/../v1/jobs HTTP/1.1\r\n${ownHeaders()}\r\n`, /^HTTP\/1.1 400/],
    [
      'escaped dots in the path',
      () => `GET /%2e%2e/etc/passwd HTTP/1.1\r\n${ownHeaders()}\r\n`,
      /^HTTP\/1.1 400/,
    ],
    ['two slashes in the path', () => `GET //etc/passwd HTTP/1.1\r\n${ownHeaders()}\r\n`, /^HTTP\/1.1 400/],
    ['a backslash in the path', () => `GET /..\\..\\etc HTTP/1.1\r\n${ownHeaders()}\r\n`, /^HTTP\/1.1 400/],
    ['a NUL in the path', () => `GET /api/v1/jobs/%00 HTTP/1.1\r\n${ownHeaders()}\r\n`, /^HTTP\/1.1 400/],
    ['overlong UTF-8', () => `GET /api/v1/jobs/%c0%af HTTP/1.1\r\n${ownHeaders()}\r\n`, /^HTTP\/1.1 400/],
    ['invalid escapes', () => `GET /api/v1/jobs/%zz HTTP/1.1\r\n${ownHeaders()}\r\n`, /^HTTP\/1.1 400/],
    [
      'a long URL',
      () => `GET /api/v1/jobs?queue=${'x'.repeat(9000)} HTTP/1.1\r\n${ownHeaders()}\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    [
      'two Authorization headers',
      () => `GET /api/v1/jobs HTTP/1.1\r\n${ownHeaders()}Authorization: Bearer x\r\n\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    [
      'Content-Length with a chunked body',
      () =>
        `POST /api/v1/jobs HTTP/1.1\r\n${ownHeaders()}Content-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    ['an unknown method', () => `FOO /api/v1/jobs HTTP/1.1\r\n${ownHeaders()}\r\n`, /^HTTP\/1.1 4\d\d/],
    ['TRACE', () => `TRACE /api/v1/jobs HTTP/1.1\r\n${ownHeaders()}\r\n`, /^HTTP\/1.1 4\d\d/],
    ['CONNECT', () => `CONNECT evil.example:443 HTTP/1.1\r\n${ownHeaders()}\r\n`, /^(HTTP\/1.1 4\d\d|$)/],
    ['bytes that are not HTTP', () => 'nonsense\r\n\r\n', /^(HTTP\/1.1 4\d\d|$)/],
  ];
  for (const [what, request, status] of rows) {
    test(what, async () => {
      const answer = await site.raw(request(), /\r\n\r\n/).catch(() => '');
      expect(answer).toMatch(status);
      expect(answer).not.toMatch(/ 2\d\d /);
      expect((await site.call('GET', '/healthz')).status).toBe(200);
    });
  }

  test('a body that is too long, before it is read', async () => {
    const head = `POST /api/v1/jobs HTTP/1.1\r\n${ownHeaders()}Content-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n`;
    expect(await site.raw(head, /\r\n\r\n/)).toMatch(/^HTTP\/1.1 413/);
  });
});

describe('every answer has security headers', () => {
  const expectSecurityHeaders = (headers: Headers): void => {
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  };

  test('on every route, for valid and invalid requests', async () => {
    for (const route of ROUTES) {
      const stop = new AbortController();
      for (const name of ['there', 'nobody']) {
        const path = route.path.replaceAll(/\{\w+\}/g, name);
        for (const token of [site.token, 'wrong']) {
          const { headers } = await fetch(`http://127.0.0.1:${site.port}${path}`, {
            // No route accepts this body.
            ...{
              method: route.method,
              signal: stop.signal,
              ...(route.method === 'GET' ? {} : { body: '[]' }),
            },
            headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
          });
          expectSecurityHeaders(headers);
          expect(headers.get('cache-control')).toBe('no-store');
        }
      }
      stop.abort();
    }
  });

  test('on pages and unknown paths', async () => {
    const headers = { host: site.pageHost };
    const page = await site.call('GET', '/', { headers });
    const [asset] = /(?<=")\.?\/?assets\/[^"]+/.exec(page.text)!;
    for (const [method, path, status] of [
      ['GET', '/', 200],
      ['GET', `/${asset.replace(/^[./]+/, '')}`, 200],
      ['GET', '/?token=x', 400],
      ['GET', '/nothing', 404],
      ['DELETE', '/healthz', 405],
      ['POST', '/', 404],
    ] as [string, string, number][]) {
      const answer = await site.call(method, path, { headers });
      expect({ path, status: answer.status }).toEqual({ path, status });
      expectSecurityHeaders(answer.headers);
    }
    const output = await site.call('GET', '/api/v1/jobs/there/output');
    expect(output.headers.get('content-security-policy')).toContain('sandbox');
    expect(output.headers.get('content-disposition')).toStartWith('attachment');
  });

  test('on malformed and unusual requests', async () => {
    const ownHeaders = `Host: 127.0.0.1:${site.port}\r\n`;
    const rows: [what: string, bytes: string, status: number][] = [
      ['bytes that are not HTTP', 'nonsense\r\n\r\n', 400],
      ['no Host', 'GET / HTTP/1.1\r\n\r\n', 421],
      ['a Host with a user name', `GET / HTTP/1.1\r\nHost: x@127.0.0.1:${site.port}\r\n\r\n`, 400],
      ['a Host with a path', `GET / HTTP/1.1\r\nHost: 127.0.0.1:${site.port}/x\r\n\r\n`, 400],
      ['another Host', 'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n', 421],
      ['a header that is too long', `GET / HTTP/1.1\r\n${ownHeaders}X: ${'x'.repeat(100_000)}\r\n\r\n`, 431],
      [
        'an unknown encoding',
        `POST /api/v1/jobs HTTP/1.1\r\n${ownHeaders}Transfer-Encoding: odd\r\n\r\n`,
        400,
      ],
      ['an unknown expectation', `GET /healthz HTTP/1.1\r\n${ownHeaders}Expect: nonsense\r\n\r\n`, 200],
      [
        'a body that is too long',
        `POST /api/v1/jobs HTTP/1.1\r\n${ownHeaders}Authorization: Bearer ${site.token}\r\nContent-Length: 1073741824\r\n\r\n`,
        413,
      ],
    ];
    for (const [what, bytes, status] of rows) {
      const text = await site.raw(bytes, /\r\n\r\n/);
      const [first, ...lines] = text.split('\r\n\r\n', 1)[0]!.split('\r\n');
      expect({ what, status: first?.split(' ')[1] }).toEqual({ what, status: String(status) });
      expectSecurityHeaders(
        new Headers(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string])),
      );
    }
  });
});
