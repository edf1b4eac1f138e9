import { afterAll, expect } from 'bun:test';
import { fixedAddress, launchBrowser, logIn, openDashboard } from '../support/browser.ts';
import { startGatedJob } from '../support/gated-job.ts';
import { enqueue, until, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

test('the printed address opens the dashboard, and the token is removed from the address bar', async (box) => {
  const { page, violations, origin } = await openDashboard(box, browser);
  await page.getByText('No jobs yet. Run these two commands').waitFor();
  expect(page.url()).toBe(`${origin}/`);
  // A reload of the same tab needs no token in the address.
  await page.reload();
  await page.getByText('No jobs yet. Run these two commands').waitFor();
  expect(violations).toEqual([]);
});

test('without a token the page explains how to get one and accepts it', async (box) => {
  const { origin, token } = await openDashboard(box, browser);
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${origin}/jobs`);
  await page.getByText('queuectl dashboard').waitFor();
  const enter = async (text: string): Promise<void> => {
    await page.getByLabel('Address or token').fill(text);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  await enter('what is this');
  await page.getByText('This is neither a token').waitFor();
  await enter('x'.repeat(43));
  await page.getByText('The server rejected this token').waitFor();
  await enter(`${origin}/#token=${token}`);
  await page.getByText('No jobs yet. Enqueue the first one').waitFor();
  // A link with a wrong token does not end the session.
  await page.goto(`${origin}/jobs#token=${'x'.repeat(43)}`);
  await page.getByRole('alert').getByText('no-token').waitFor();
  await page.getByText('No jobs yet. Enqueue the first one').waitFor();
  expect(page.url()).toBe(`${origin}/jobs`);
});

test('a job appears, runs and ends without a reload', async (box) => {
  await box.startWorkers();
  const { page, show, violations } = await openDashboard(box, browser);
  await show('/jobs');
  await page.getByText('No jobs yet. Enqueue the first one').waitFor();
  await page.evaluate('window.same = true');
  const job = await startGatedJob(box, 'one');
  const row = page.locator('[data-row="one"]');
  await row.getByText('processing').waitFor();
  job.release();
  await row.getByText('completed').waitFor();
  expect(await page.evaluate('window.same')).toBe(true);
  expect(violations).toEqual([]);
});

test('output is followed while it is written', async (box) => {
  await box.startWorkers();
  const command =
    'echo first; until test -e go; do sleep 0.05; done; echo last; until test -e end; do sleep 0.05; done';
  await enqueue(box, 'talk', command);
  await untilState(box, 'talk', 'processing');
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs/talk?tab=output');
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText('first', { exact: true }).waitFor();
  expect(await output.getByText('last', { exact: true }).count()).toBe(0);
  await Bun.write(`${box.directory}/go`, '');
  await output.getByText('last', { exact: true }).waitFor();
  await Bun.write(`${box.directory}/end`, '');
  await page.locator('header.job').getByText('completed').first().waitFor();
});

test('only a part of long output is rendered, and its end, its start, a search and a link to a line work', async (box) => {
  await box.startWorkers();
  await enqueue(box, 'much', 'seq 1 60000');
  await untilState(box, 'much', 'completed');
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs/much?tab=output');
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText('60000', { exact: true }).waitFor();
  expect(await output.locator('.row').count()).toBeLessThan(300);
  await page.getByRole('button', { name: 'Start' }).click();
  await output.locator('code').getByText('1', { exact: true }).waitFor();
  await page.getByLabel('Search the loaded output').fill('7777');
  await output.locator('.marked mark').getByText('7777').waitFor();
  await show('/jobs/much?tab=output#L1234');
  await output.locator('.marked').getByText('1234').first().waitFor();
});

test('while the server is down, the page reports it, and it continues after a login to the next server', async (box) => {
  const flags = await fixedAddress();
  const { page, token, stop, show } = await openDashboard(box, browser, ...flags);
  await show('/jobs');
  await page.getByText('No jobs yet. Enqueue the first one').waitFor();
  await stop();
  await page.getByText('Connection lost').waitFor();
  await enqueue(box, 'meanwhile', 'true');
  const again = box.start(['serve', ...flags]);
  await until(() => again.stdout().includes('http'), 'it is back');
  await logIn(page, token, 'The server was restarted');
  await page.locator('[data-row="meanwhile"]').waitFor();
  await page.getByText('Connection lost').waitFor({ state: 'detached' });
});

test('stdout and stderr of split output are shown separately', async (box) => {
  await enqueue(box, 'two', 'echo good news; echo bad news >&2', { split_output: true });
  await box.run(['worker', 'start', '--drain']);
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs/two?tab=output');
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText('good news').waitFor();
  await page.getByRole('link', { name: 'stderr' }).click();
  await output.getByText('bad news').waitFor();
  expect(await output.getByText('good news').count()).toBe(0);
});
