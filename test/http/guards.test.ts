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

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const pathOf = (route: Route): string => route.path.replaceAll(/\{\w+\}/g, 'nobody');
const PATHS = [...new Set(ROUTES.map((route) => route.path))];
const closed = ROUTES.filter((route) => route.access !== 'open');

const isProblem = (answer: Answer, status: number, code: string): void => {
  expect({ status: answer.status, code: answer.json?.code }).toEqual({ status, code });
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  // Nothing of the inside: no stack, no path, no SQL.
  expect(answer.text).not.toMatch(/node_modules|\.ts|SELECT|sqlite|\/tmp|\/home|\/root/i);
};

describe('every route of the table', () => {
  for (const route of closed) {
    const name = `${route.method} ${route.path}`;
    test(`${name} needs the token`, async () => {
      const how = route.body === undefined ? {} : { body: {} };
      for (const token of [null, '', 'x', site.token.slice(1), `${site.token}x`, 'a'.repeat(5000)]) {
        const answer = await site.call(route.method, pathOf(route), { ...how, token });
        expect([401, 429]).toContain(answer.status);
        expect(answer.json.code).toMatch(/^(no-token|too-many-tries)$/);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      }
    });
    test(`${name} answers to its own name only`, async () => {
      for (const host of [
        'evil.example',
        '127.0.0.1.evil.example',
        `127.0.0.1:${site.port + 1}`,
        `localhost.:${site.port}`,
      ]) {
        const answer = await site.call(route.method, pathOf(route), { headers: { host } });
        isProblem(answer, 421, 'wrong-host');
      }
    });
    if (route.method !== 'GET') {
      test(`${name} is not for other sites`, async () => {
        const body = route.body === undefined ? {} : { body: {} };
        for (const headers of [
          { origin: 'null' },
          { origin: 'https://evil.example' },
          { origin: `http://localhost:${site.port + 1}` },
          { 'sec-fetch-site': 'cross-site' },
          { 'sec-fetch-site': 'same-site' },
        ] as Record<string, string>[]) {
          isProblem(await site.call(route.method, pathOf(route), { ...body, headers }), 403, 'not-allowed');
        }
      });
    }
    if (route.body !== undefined) {
      test(`${name} takes JSON and nothing else`, async () => {
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
          isProblem(answer, 415, 'unsupported-type');
        }
        for (const body of ['{', '[[[', 'nope', '\ufeff'])
          isProblem(await site.call(route.method, pathOf(route), { body }), 400, 'invalid-json');
      });
    }
  }

  for (const path of PATHS) {
    test(`${path} has the methods of the table and no others`, async () => {
      const known = ROUTES.filter((route) => route.path === path).map((route) => route.method as string);
      const url = path.replaceAll(/\{\w+\}/g, 'nobody');
      for (const method of METHODS.filter((one) => !known.includes(one))) {
        const answer = await site.call(method, url);
        isProblem(answer, 405, 'wrong-method');
        expect(answer.headers.get('allow')).toBe(known.join(', '));
        const nameless = await site.call(method, url, { token: null });
        if (ROUTES.some((route) => route.path === path && route.access !== 'open'))
          expect([401, 429]).toContain(nameless.status);
      }
    });
  }

  for (const route of closed.filter((one) => one.access === 'look' && one.path !== '/api/v1/events')) {
    test(`${route.path}: unknown queries and tokens in the URL are refused`, async () => {
      isProblem(await site.call('GET', `${pathOf(route)}?nonsense=1`), 400, 'invalid-request');
      isProblem(await site.call('GET', `${pathOf(route)}?token=${site.token}`), 400, 'invalid-request');
    });
  }
});

test('a server that is read-only changes nothing, whatever the route', async () => {
  const quiet = await serve(box, '--read-only');
  for (const route of ROUTES.filter((one) => one.access === 'change')) {
    const how = route.body === undefined ? {} : { body: {} };
    isProblem(await quiet.call(route.method, pathOf(route), how), 403, 'read-only');
  }
});

test('the right token is never refused because of wrong ones', async () => {
  // At once, and again on a machine so slow that as many are allowed meanwhile.
  const tired = await until(async () => {
    const wrong = Array.from({ length: 60 }, (_, i) => ({ token: `wrong${i}` }));
    const answers = await Promise.all(wrong.map((one) => site.call('GET', '/api/v1/jobs', one)));
    return answers.find((answer) => answer.status === 429);
  }, 'it is too much');
  expect(Number(tired.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await site.call('GET', '/api/v1/jobs')).status).toBe(200);
});

describe('requests that are no requests', () => {
  const own = (): string => `Host: 127.0.0.1:${site.port}\r\nAuthorization: Bearer ${site.token}\r\n`;
  const rows: [what: string, request: () => string, status: RegExp][] = [
    [
      'two Hosts',
      () => `GET /api/v1/jobs HTTP/1.1\r\n${own()}Host: evil.example\r\n\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    [
      'no Host',
      () => `GET /api/v1/jobs HTTP/1.1\r\nAuthorization: Bearer ${site.token}\r\n\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    [
      'an absolute URL',
      () => `GET http://evil.example/api/v1/jobs HTTP/1.1\r\n${own()}\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    ['dots', () => `GET /api/v1/../v1/jobs HTTP/1.1\r\n${own()}\r\n`, /^HTTP\/1.1 400/],
    ['escaped dots', () => `GET /%2e%2e/etc/passwd HTTP/1.1\r\n${own()}\r\n`, /^HTTP\/1.1 400/],
    ['two slashes', () => `GET //etc/passwd HTTP/1.1\r\n${own()}\r\n`, /^HTTP\/1.1 400/],
    ['a backslash', () => `GET /..\\..\\etc HTTP/1.1\r\n${own()}\r\n`, /^HTTP\/1.1 400/],
    ['NUL', () => `GET /api/v1/jobs/%00 HTTP/1.1\r\n${own()}\r\n`, /^HTTP\/1.1 400/],
    ['overlong UTF-8', () => `GET /api/v1/jobs/%c0%af HTTP/1.1\r\n${own()}\r\n`, /^HTTP\/1.1 400/],
    ['bad escapes', () => `GET /api/v1/jobs/%zz HTTP/1.1\r\n${own()}\r\n`, /^HTTP\/1.1 400/],
    [
      'a long URL',
      () => `GET /api/v1/jobs?queue=${'x'.repeat(9000)} HTTP/1.1\r\n${own()}\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    [
      'two Authorizations',
      () => `GET /api/v1/jobs HTTP/1.1\r\n${own()}Authorization: Bearer x\r\n\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    [
      'length and chunks at once',
      () =>
        `POST /api/v1/jobs HTTP/1.1\r\n${own()}Content-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n`,
      /^HTTP\/1.1 4\d\d/,
    ],
    ['a method that nobody knows', () => `FOO /api/v1/jobs HTTP/1.1\r\n${own()}\r\n`, /^HTTP\/1.1 4\d\d/],
    ['TRACE', () => `TRACE /api/v1/jobs HTTP/1.1\r\n${own()}\r\n`, /^HTTP\/1.1 4\d\d/],
    ['CONNECT', () => `CONNECT evil.example:443 HTTP/1.1\r\n${own()}\r\n`, /^(HTTP\/1.1 4\d\d|$)/],
    ['rubbish', () => 'nonsense\r\n\r\n', /^(HTTP\/1.1 4\d\d|$)/],
  ];
  for (const [what, request, status] of rows) {
    test(what, async () => {
      const answer = await site.raw(request(), /\r\n\r\n/).catch(() => '');
      expect(answer).toMatch(status);
      expect(answer).not.toMatch(/ 2\d\d /);
      expect((await site.call('GET', '/healthz')).status).toBe(200);
    });
  }

  test('a body that is too long is refused before it is read', async () => {
    const head = `POST /api/v1/jobs HTTP/1.1\r\n${own()}Content-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n`;
    expect(await site.raw(head, /\r\n\r\n/)).toMatch(/^HTTP\/1.1 413/);
  });
});

test('every answer has the headers that keep browsers tame', async () => {
  for (const path of ['/api/v1/jobs', '/healthz', '/nothing', '/api/v1/jobs/there/output']) {
    const { headers } = await site.call('GET', path);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
  }
});
