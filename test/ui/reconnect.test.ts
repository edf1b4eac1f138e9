import { afterAll, expect } from 'bun:test';
import { renameSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { fixedAddress, launchBrowser, logIn, openDashboard } from '../support/browser.ts';
import { readAddress } from '../support/http.ts';
import { enqueue, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

/** Starts a job that prints `first`. Returns a function that lets it print `second`, then `third`, then `end`. */
async function startPrinting(box: Sandbox): Promise<(word: string) => Promise<unknown>> {
  const words = ['second', 'third', 'end'].map(
    (word) => `until test -e ${word}; do sleep 0.05; done; echo ${word}`,
  );
  await enqueue(box, 'talk', `echo first; ${words.join('; ')}`);
  await untilState(box, 'talk', 'processing');
  return (word) => Bun.write(`${box.directory}/${word}`, '');
}

test('output is followed again after the server, and then its store, were unavailable', async (box) => {
  await box.startWorkers();
  const print = await startPrinting(box);
  const flags = await fixedAddress();
  const { page, token, show, kill } = await openDashboard(box, browser, ...flags);
  await show('/jobs/talk?tab=output');
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText('first', { exact: true }).waitFor();
  const unanswered = page.waitForEvent('requestfailed', (request) => request.url().includes('/output?'));
  await kill();
  await unanswered;
  await page.locator('.banner', { hasText: 'Connection lost. Reconnecting…' }).waitFor();
  const again = box.start(['serve', ...flags]);
  await until(() => again.stdout().includes('http'), 'it is back');
  await logIn(page, token, 'The server was restarted');
  await print('second');
  await output.getByText('second', { exact: true }).waitFor();

  const store = `${box.home}/queue.db`;
  const refused = page.waitForResponse((one) => one.url().includes('/output?') && one.status() === 503);
  renameSync(store, `${store}.aside`);
  await refused;
  await page.locator('.banner', { hasText: 'cannot read its database' }).waitFor();
  renameSync(`${store}.aside`, store);
  await print('third');
  await output.getByText('third', { exact: true }).waitFor();
  await page.locator('.banner', { hasText: 'cannot read its database' }).waitFor({ state: 'detached' });
  // No message stays on the page.
  expect(await page.locator('.toast').count()).toBe(0);
  await print('end');
  await untilState(box, 'talk', 'completed');
});

test('an operation that was interrupted by a restart of the server is still shown, with that reason', async (box) => {
  const jobs = Array.from({ length: 100 }, (_, i) => ({
    id: `dead-${i}`,
    command: 'exit 4',
    max_retries: 1,
  }));
  await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(jobs) });
  await box.run(['worker', 'start', '--drain', '--concurrency', '8']);
  const flags = await fixedAddress();
  const { page, token, show, kill } = await openDashboard(box, browser, ...flags);
  await show('/dlq');
  const group = page.locator('[data-row="exit code 4"]');
  await group.locator('summary').click();
  await group.getByRole('button', { name: 'Retry 10 per second' }).click();
  await page.getByRole('button', { name: 'Retry 100 jobs' }).click();
  const tracked = page.getByRole('status', { name: 'Bulk actions' });
  await tracked.getByText('of 100').waitFor();
  const unanswered = page.waitForEvent('requestfailed', (one) => one.url().includes('/operations/'));
  await kill();
  await unanswered;
  await tracked.getByText('of 100').waitFor();
  const again = box.start(['serve', ...flags]);
  await until(() => again.stdout().includes('http'), 'it is back');
  await logIn(page, token, 'The server was restarted');
  await tracked.getByText('The server was restarted and did not finish the action').waitFor();
});

test('after a restart, an open tab asks for the new address and sends no token to the old one', async (box) => {
  const { page, api, token, kill } = await openDashboard(box, browser);
  await kill();
  const again = box.start(['serve', '--port', new URL(api).port]);
  const { dashboard } = await readAddress(again);
  await page.locator('.login-reason', { hasText: 'The server was restarted' }).waitFor();
  const addresses: string[] = [];
  page.on('request', (one) => {
    if (one.headers().authorization?.includes(token)) addresses.push(new URL(one.url()).origin);
  });
  const enter = async (text: string): Promise<void> => {
    await page.getByLabel('Address or token').fill(text);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  await enter(token);
  await page.getByText('Enter its address').waitFor();
  await enter(`${dashboard}#token=${token}`);
  await page.locator('.frame').waitFor();
  expect(page.url()).toBe(dashboard);
  expect(addresses).toEqual([new URL(dashboard).origin]);
});

test('without a stream the page polls', async (box) => {
  const { page, api, token, show } = await openDashboard(box, browser);
  await page.getByRole('button', { name: 'live' }).waitFor();
  await page.goto('about:blank');
  const taken: ClientRequest[] = [];
  const open = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const one = request(`${api}api/v1/events`, { headers: { authorization: `Bearer ${token}` } });
      one.on('response', (answer) => resolve(answer.statusCode!)).on('error', reject);
      one.end();
      taken.push(one);
    });
  while ((await open()) === 200);
  await show('/jobs');
  await page.locator('.banner', { hasText: 'refreshes every few seconds' }).waitFor();
  await enqueue(box, 'seen', 'true');
  await page.locator('[data-row="seen"]').waitFor();
  for (const one of taken) one.destroy();
  await page.getByRole('button', { name: 'live' }).waitFor();
  await page.locator('.banner').waitFor({ state: 'detached' });
});

test('too many wrong tokens are refused', async (box) => {
  const { page, api, show } = await openDashboard(box, browser);
  const wrong = { authorization: 'Bearer wrong' };
  await until(
    async () => (await fetch(`${api}api/v1/jobs`, { headers: wrong })).status === 429,
    'wrong tokens are slowed down',
  );
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('You have logged out').waitFor();
  await show(`/jobs#token=${'x'.repeat(43)}`);
  // On a slow machine one more guess may be allowed by then.
  await page.getByText(/Too many wrong tokens|The server rejected this token/).waitFor();
});

test('a link to a dropped line shows a message and the end of the output', async (box) => {
  await box.json(['config', 'set', 'output-limit', '64KiB']);
  await enqueue(box, 'much', 'seq 1 60000');
  await box.run(['worker', 'start', '--drain']);
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs/much?tab=output#L30000');
  await page.getByText('Line 30000 does not exist, or it comes after the part that was left out').waitFor();
  await page.getByRole('region', { name: 'Output' }).getByText('60000', { exact: true }).waitFor();
});
