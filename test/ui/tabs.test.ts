import { afterAll, expect } from 'bun:test';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { startProxy } from '../support/proxy.ts';
import { enqueue, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

/** Tells a page that its tab is hidden or visible. */
async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

/** A page without a request for this long is considered quiet. */
const QUIET_MS = 1500;

/** Waits until the page is quiet, so that later changes can only come from the stream. */
async function untilQuiet(page: Page): Promise<void> {
  let last = performance.now();
  const asked = (): void => {
    last = performance.now();
  };
  page.on('request', asked);
  await until(() => performance.now() - last > QUIET_MS, 'the page is quiet');
  page.off('request', asked);
}

test('the tabs of a browser share one stream, and another tab takes it over when its reader is hidden or closed', async (box) => {
  const { page: first, origin } = await openDashboard(box, browser);
  const second = await first.context().newPage();
  second.setDefaultTimeout(60_000);
  const opened: string[] = [];
  second.on('request', (request) => {
    if (request.url().includes('/events?')) opened.push(request.url());
  });
  await first.locator('.live-live').waitFor();
  await second.goto(`${origin}/jobs`);
  await second.locator('.live-live').waitFor();
  await untilQuiet(second);
  await enqueue(box, 'one', 'true');
  await second.locator('[data-row="one"]').waitFor();
  expect(opened).toEqual([]);

  await setHidden(first, true);
  await until(() => opened.length === 1, 'the second reads the stream');
  await enqueue(box, 'two', 'true');
  await second.locator('[data-row="two"]').waitFor();
  // The first tab is visible again, and the second one still reads the stream for both.
  await setHidden(first, false);
  await first.goto(`${origin}/jobs`);
  await first.locator('[data-row="two"]').waitFor();
  await untilQuiet(first);
  await enqueue(box, 'three', 'true');
  await first.locator('[data-row="three"]').waitFor();

  await second.close();
  await enqueue(box, 'four', 'true');
  await first.locator('[data-row="four"]').waitFor();
  await first.locator('.live-live').waitFor();
});

test('while the store is missing, an open page reports it, and it recovers when the store is back', async (box) => {
  await enqueue(box, 'one', 'true');
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs');
  await page.locator('[data-row="one"]').waitFor();
  await page.locator('.live-live').waitFor();
  await page.evaluate('window.same = true');
  await untilQuiet(page);
  const aside = join(box.directory, 'aside');
  renameSync(box.home, aside);
  // The page notices it although no event occurs and no request is sent.
  await page.getByText('The server cannot read its database').waitFor();
  // The last known data stay readable.
  expect(await page.locator('[data-row="one"]').count()).toBe(1);
  renameSync(aside, box.home);
  await page.getByText('The server cannot read its database').waitFor({ state: 'detached' });
  await page.locator('.live-live').waitFor();
  await enqueue(box, 'two', 'true');
  await page.locator('[data-row="two"]').waitFor();
  expect(await page.evaluate('window.same')).toBe(true);
});

test('behind a proxy with a path, the dashboard works and requests from other sites are refused', async (box) => {
  await enqueue(box, 'one', 'true');
  const proxy = await startProxy('/ops/queue');
  try {
    const flags = ['--url', proxy.url, '--port', proxy.port];
    const { page, violations, token } = await openDashboard(box, browser, ...flags);
    const notFound: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 404) notFound.push(response.url());
    });
    await page.getByText('Waiting', { exact: true }).waitFor();
    expect(page.url()).toBe(proxy.url);
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    const link = page.locator('[data-row="one"] a');
    expect(await link.getAttribute('href')).toBe('/ops/queue/jobs/one');
    await link.click();
    await page.getByRole('heading', { name: 'one' }).waitFor();
    expect(page.url()).toBe(`${proxy.url}jobs/one`);
    // A reload two levels down works as well.
    await page.reload();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('header.job .state.state-cancelled').waitFor();
    await page.getByRole('link', { name: 'Metrics' }).click();
    await page.locator('.u-wrap').first().waitFor();
    await page.locator('.live-live').waitFor();
    const headers = { authorization: `Bearer ${token}`, origin: 'http://ops.example.org' };
    const foreign = await fetch(`${proxy.url}api/v1/jobs/one/retry`, { method: 'POST', headers });
    expect(foreign.status).toBe(403);
    expect(notFound).toEqual([]);
    expect(violations).toEqual([]);
  } finally {
    proxy.close();
  }
  // An invalid --url is refused.
  for (const url of ['ops.example.org', 'ftp://example.org/', 'https://example.org/?a=b'])
    expect((await box.run(['serve', '--url', url])).code).toBe(2);
});
