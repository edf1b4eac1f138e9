import { afterAll, beforeAll, expect, test } from 'bun:test';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launch, openDashboard } from '../support/browser.ts';
import { startProxy } from '../support/proxy.ts';
import { enqueue, inSandbox, until } from '../support/queuectl.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

/** A tab that nobody looks at any more, or looks at again. */
async function hide(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

const QUIET_MS = 1500;

/** Until the page asks for nothing more by itself: what it learns then, it was told. */
async function settled(page: Page): Promise<void> {
  let last = performance.now();
  const asked = (): void => {
    last = performance.now();
  };
  page.on('request', asked);
  await until(() => performance.now() - last > QUIET_MS, 'the page is quiet');
  page.off('request', asked);
}

test(
  'the tabs of a browser share one stream; the next one takes over, and what nobody sees stands still',
  inSandbox(async (box) => {
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
    await settled(second);
    await enqueue(box, 'one', 'true');
    await second.locator('[data-row="one"]').waitFor();
    expect(opened).toEqual([]);

    await hide(first, true);
    await until(() => opened.length === 1, 'the second reads the stream');
    await enqueue(box, 'two', 'true');
    await second.locator('[data-row="two"]').waitFor();
    // Seen again, the first follows the second.
    await hide(first, false);
    await first.goto(`${origin}/jobs`);
    await first.locator('[data-row="two"]').waitFor();
    await settled(first);
    await enqueue(box, 'three', 'true');
    await first.locator('[data-row="three"]').waitFor();

    await second.close();
    await enqueue(box, 'four', 'true');
    await first.locator('[data-row="four"]').waitFor();
    await first.locator('.live-live').waitFor();
  }),
);

test(
  'when the store is away the open page says so, and heals by itself when it is back',
  inSandbox(async (box) => {
    await enqueue(box, 'one', 'true');
    const { page, show } = await openDashboard(box, browser);
    await show('/jobs');
    await page.locator('[data-row="one"]').waitFor();
    await page.locator('.live-live').waitFor();
    await page.evaluate('window.same = true');
    await settled(page);
    const aside = join(box.directory, 'aside');
    renameSync(box.home, aside);
    // Nothing happens, nobody asks for anything: the page finds out all the same.
    await page.getByText('The server cannot read its database').waitFor();
    // What was known is still there to be read.
    expect(await page.locator('[data-row="one"]').count()).toBe(1);
    renameSync(aside, box.home);
    await page.getByText('The server cannot read its database').waitFor({ state: 'detached' });
    await page.locator('.live-live').waitFor();
    await enqueue(box, 'two', 'true');
    await page.locator('[data-row="two"]').waitFor();
    expect(await page.evaluate('window.same')).toBe(true);
  }),
);

test(
  'below a path behind a proxy: pages, links, files, the stream and changes',
  inSandbox(async (box) => {
    await enqueue(box, 'one', 'true');
    const proxy = await startProxy('/ops/queue');
    try {
      const flags = ['--url', proxy.url, '--port', proxy.port];
      const { page, violations, token } = await openDashboard(box, browser, ...flags);
      const missed: string[] = [];
      page.on('response', (response) => {
        if (response.status() === 404) missed.push(response.url());
      });
      await page.getByText('Waiting', { exact: true }).waitFor();
      expect(page.url()).toBe(proxy.url);
      await page.getByRole('link', { name: 'Jobs' }).click();
      const link = page.locator('[data-row="one"] a');
      expect(await link.getAttribute('href')).toBe('/ops/queue/jobs/one');
      await link.click();
      await page.getByRole('heading', { name: 'one' }).waitFor();
      expect(page.url()).toBe(`${proxy.url}jobs/one`);
      // The same from nothing, two levels down.
      await page.reload();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.locator('header.job .state.state-cancelled').waitFor();
      await page.getByRole('link', { name: 'Metrics' }).click();
      await page.locator('.u-wrap').first().waitFor();
      await page.locator('.live-live').waitFor();
      // Other sites are as strange as before.
      const headers = { authorization: `Bearer ${token}`, origin: 'http://ops.example.org' };
      const foreign = await fetch(`${proxy.url}api/v1/jobs/one/retry`, { method: 'POST', headers });
      expect(foreign.status).toBe(403);
      expect(missed).toEqual([]);
      expect(violations).toEqual([]);
    } finally {
      proxy.close();
    }
    for (const url of ['ops.example.org', 'ftp://example.org/', 'https://example.org/?a=b'])
      expect((await box.run(['serve', '--url', url])).code).toBe(2);
  }),
);
