import { afterAll, expect } from 'bun:test';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

const SCRIPT = '<script>alert(1)</script>';
const IMAGE = '<img src=x onerror=alert(2)>';
const ESCAPE = '\x1b[2J\x1b]0;title\x07';

test('markup in commands, names, tags, queues, errors and output is shown as text, like escape sequences other than colours', async (box) => {
  const command = `printf '%s\\n' '${SCRIPT}' '${IMAGE}' '${ESCAPE}' '\x1b[31mred\x1b[0m'; echo '${IMAGE}' >&2; exit 3`;
  const more = {
    name: `${SCRIPT}${IMAGE}`,
    tags: { [IMAGE]: SCRIPT },
    env: { MARKUP: IMAGE },
    max_retries: 1,
  };
  await enqueue(box, IMAGE, command, more);
  await box.run(['schedule', 'add', SCRIPT, '--every', '1d', `echo ${IMAGE}`]);
  await box.run(['worker', 'start', '--drain']);
  const { page, show, violations } = await openDashboard(box, browser);
  const job = `/jobs/${encodeURIComponent(IMAGE)}`;
  const places: [string, string][] = [
    ['/', 'Queues'],
    ['/jobs', IMAGE],
    [`/jobs?search=${encodeURIComponent(SCRIPT)}`, IMAGE],
    [job, SCRIPT],
    [`${job}?tab=output`, SCRIPT],
    [`${job}?tab=spec`, IMAGE],
    [`${job}?tab=related`, 'No other jobs have this name'],
    [`${job}?tab=events`, 'enqueued'],
    [`${job}?tab=json`, IMAGE],
    ['/dlq', IMAGE],
    ['/schedules', SCRIPT],
    [`/schedules/${encodeURIComponent(SCRIPT)}`, IMAGE],
    [`/queues/${encodeURIComponent(IMAGE)}`, 'does not exist. Add a job to create it'],
    ['/queues/default', SCRIPT],
    ['/stats', SCRIPT],
    ['/activity', IMAGE],
    [`/jobs/${encodeURIComponent(SCRIPT)}`, 'does not exist. It may have been deleted'],
    [`/${encodeURIComponent(SCRIPT)}`, 'There is no page at'],
  ];
  for (const [path, text] of places) {
    await show(path);
    await page.locator('main').getByText(text).first().waitFor();
  }
  await show(`${job}?tab=output`);
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText(IMAGE).first().waitFor();
  // Colours become styles, and any other escape is shown as text.
  expect(await output.locator('.ansi-1').textContent()).toBe('red');
  expect(await output.textContent()).toContain('^[[2J^[]0;title^G');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('alert');
  await page
    .getByRole('option', { name: /onerror/ })
    .first()
    .waitFor();
  expect(await page.locator('main img, main script, dialog img').count()).toBe(0);
  expect(violations).toEqual([]);
});

test('a read-only server offers no actions', async (box) => {
  await enqueue(box, 'one', 'true');
  const { page, show } = await openDashboard(box, browser, '--read-only');
  await page.getByText('read-only').waitFor();
  await show('/jobs/one');
  await page.getByRole('heading', { name: 'one' }).waitFor();
  await page.getByText('read-only').waitFor();
  for (const name of ['New job', 'Cancel', 'Delete', 'Duplicate', 'Hold'])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  await show('/queues');
  await page.locator('[data-row="default"]').waitFor();
  expect(await page.getByRole('button', { name: 'Pause', exact: true }).count()).toBe(0);
});

test('an error message stays on the page with its code until it is dismissed', async (box) => {
  const { page, show } = await openDashboard(box, browser);
  await show('/settings');
  const field = page.getByRole('textbox', { name: 'max-retries' });
  await field.fill('-3');
  await field.press('Enter');
  const toast = page.getByRole('alert');
  await toast.getByText('invalid-value').waitFor();
  await toast.getByRole('button', { name: 'Dismiss' }).click();
  await toast.waitFor({ state: 'detached' });
  await field.fill('5');
  await field.press('Enter');
  await page.getByText('Setting max-retries saved').waitFor();
  expect((await box.run(['config', 'get', 'max-retries'])).stdout.trim()).toBe('5');
});
