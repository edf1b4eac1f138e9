import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Site, serve } from '../support/http.ts';
import { sandbox } from '../support/queuectl.ts';

const box = sandbox();
let site: Site;
beforeAll(async () => {
  await box.run(['enqueue', '--id', 'there', '--delay', '1h', 'true']);
  site = await serve(box);
});
afterAll(() => box.cleanup());

/** The headers that Chromium sends when somebody opens an address. */
const browserHeaders = () => ({
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  host: site.pageHost,
});
const UNKNOWN = ['/nonsense', '/nonsense/', '/a/b/c', '/jobs/there/x', '/dlq/x', '/stats/x', '/index.html'];

test('a browser gets the dashboard with status 404 at a path without a page, with or without a token', async () => {
  for (const path of UNKNOWN) {
    for (const token of [null, 'wrong', site.token]) {
      const answer = await site.call('GET', path, { headers: browserHeaders(), token });
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        404,
        'text/html; charset=utf-8',
      ]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('vary')).toBe('accept');
    }
    // The document loads its files from the path at which the dashboard is mounted.
    const { text } = await site.call('GET', path, { headers: browserHeaders(), token: null });
    const files = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file]) => file!);
    expect(files).toHaveLength(3);
    for (const file of files) {
      const { pathname } = new URL(file, `http://127.0.0.1${path}`);
      expect([
        file,
        (await site.call('GET', pathname, { headers: browserHeaders(), token: null })).status,
      ]).toEqual([file, 200]);
    }
    const headAnswer = await site.call('HEAD', path, { headers: browserHeaders(), token: null });
    expect([headAnswer.status, headAnswer.text]).toEqual([404, '']);
  }
});

test('programs get JSON at an unknown path, and need a token to learn that it is unknown', async () => {
  const accepts = ['*/*', 'application/json', 'application/json, text/html;q=0.5', 'text/plain', 'image/png'];
  for (const path of UNKNOWN)
    for (const accept of accepts) {
      const withToken = await site.call('GET', path, { headers: { accept } });
      expect([path, accept, withToken.status, withToken.json?.code]).toEqual([
        path,
        accept,
        404,
        'no-such-route',
      ]);
      const withoutToken = await site.call('GET', path, { headers: { accept }, token: null });
      expect([401, 429]).toContain(withoutToken.status);
    }
});

test('the API and other methods answer with JSON, also to a browser', async () => {
  for (const path of ['/api', '/api/', '/api/nonsense', '/api/v1/nonsense', '/api/v1/jobs/nobody']) {
    const withToken = await site.call('GET', path, { headers: browserHeaders() });
    expect([path, withToken.status, withToken.json?.status]).toEqual([path, 404, 404]);
    const withoutToken = await site.call('GET', path, { headers: browserHeaders(), token: null });
    expect([401, 429]).toContain(withoutToken.status);
  }
  const posted = await site.call('POST', '/nonsense', { headers: browserHeaders() });
  expect([posted.status, posted.json?.code]).toEqual([404, 'no-such-route']);
});

test('the page of a job is the same document whether or not the job exists, so that it reveals no ids', async () => {
  const [there, nobody] = await Promise.all(
    ['/jobs/there', '/jobs/nobody'].map((path) =>
      site.call('GET', path, { headers: browserHeaders(), token: null }),
    ),
  );
  expect([there!.status, nobody!.status]).toEqual([200, 200]);
  expect(nobody!.text).toBe(there!.text);
});
