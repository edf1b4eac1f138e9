import { afterAll, expect } from 'bun:test';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { startProxy } from '../support/proxy.ts';
import { enqueue } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

/** Addresses with the status of the document, the text, the link back, and the address that it leads to. */
const MISSING: [path: string, status: number, text: string, link: string, to: string][] = [
  ['/nonsense', 404, 'There is no page at /nonsense.', 'Go to the overview', '/'],
  ['/jobs/one/two', 404, 'There is no page at /jobs/one/two.', 'Go to the overview', '/'],
  ['/dlq/x', 404, 'There is no page at /dlq/x.', 'Go to the overview', '/'],
  ['/jobs/nobody', 200, 'Job nobody does not exist.', 'All jobs', '/jobs'],
  ['/queues/nobody', 200, 'Queue nobody does not exist.', 'All queues', '/queues'],
  ['/schedules/nobody', 200, 'Schedule nobody does not exist.', 'All schedules', '/schedules'],
  ['/workers/nobody', 200, 'Worker nobody is no longer running.', 'All workers', '/workers'],
];

test('an address that leads nowhere is explained on a page with a link back', async (box) => {
  await enqueue(box, 'one', 'true');
  const { page, origin, violations } = await openDashboard(box, browser);
  for (const [path, status, text, link, to] of MISSING) {
    const answer = await page.goto(origin + path);
    expect([path, answer!.status()]).toEqual([path, status]);
    await page.locator('main').getByText(text).waitFor();
    await page.locator('main').getByRole('link', { name: link }).click();
    expect(page.url()).toBe(origin + to);
  }
  // Without a session, the page asks for the token first, whatever the address.
  const stranger = await (await browser.newContext()).newPage();
  expect((await stranger.goto(`${origin}/nonsense`))!.status()).toBe(404);
  await stranger.locator('.login-page').waitFor();
  expect(violations).toEqual([]);
});

test('an unknown address below the path of a proxy links back to that path', async (box) => {
  await enqueue(box, 'one', 'true');
  const proxy = await startProxy('/tools/queue');
  try {
    const { page, token } = await openDashboard(box, browser, '--port', proxy.port, '--url', proxy.url);
    await page.goto(`${proxy.url}#token=${token}`);
    await page.locator('.frame').waitFor();
    expect((await page.goto(`${proxy.url}no/such/page`))!.status()).toBe(404);
    await page.getByText('There is no page at /no/such/page.').waitFor();
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByText('Running now').waitFor();
    expect(page.url()).toBe(proxy.url);
  } finally {
    proxy.close();
  }
});
