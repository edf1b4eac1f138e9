import { afterAll, expect } from 'bun:test';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

test('a job page shows its timeline, attempts, output, spec with retry delays, similar jobs, events and JSON', async (box) => {
  const more = {
    name: 'import',
    max_retries: 3,
    backoff: 'fixed',
    retry_delay: '1h',
    tags: { team: 'media' },
  };
  await enqueue(box, 'twin', 'true', { name: 'import', delay: '1h' });
  await enqueue(box, 'one', 'seq 1 3000; echo ERROR: disk full; seq 1 3000; exit 3', more);
  await box.startWorkers();
  await untilState(box, 'one', 'failed');
  const { page, show, violations } = await openDashboard(box, browser);
  await show('/jobs/one');
  const main = page.locator('main');
  await main
    .locator('.why')
    .getByText(/^retry 1 of 2 starts in (59m|1h)/i)
    .waitFor();
  await main.getByRole('link', { name: 'Attempt 1: exit code 3' }).waitFor();
  await main.getByText('Waiting for the retry', { exact: true }).waitFor();
  const tab = (name: RegExp | string) => main.locator('.tabs').getByRole('link', { name }).click();
  await tab(/^Attempts/);
  await main.getByRole('cell', { name: /^Exit code 3/ }).waitFor();
  await tab('Output');
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText('3000', { exact: true }).first().waitFor();
  await main.getByRole('button', { name: 'First error' }).click();
  await output.locator('.marked').getByText('ERROR: disk full').waitFor();
  expect(page.url()).toEndWith('?tab=output#L3001');
  await page.reload();
  await output.locator('.marked').getByText('ERROR: disk full').waitFor();
  const saved = page.waitForEvent('download');
  await main.getByRole('button', { name: 'Download' }).click();
  expect((await saved).suggestedFilename()).toBe('one.1.log');
  await tab('Spec');
  await main.getByText('1h, 1h (2h in total)').waitFor();
  await tab('Related');
  await main.locator('[data-row="twin"]').waitFor();
  await main.getByRole('link', { name: 'same exit code' }).waitFor();
  await tab('Events');
  await main.getByRole('cell', { name: 'enqueued' }).waitFor();
  await tab('JSON');
  await main.getByText('"retry_delay_ms": 3600000').waitFor();
  expect(violations).toEqual([]);
});

test('a delayed job can be run now, and keys retry, duplicate, pause the queue and show the output', async (box) => {
  await enqueue(box, 'later', 'echo now', { delay: '1h' });
  await enqueue(box, 'twice', 'echo here; exit 1', { max_retries: 2, backoff: 'fixed', retry_delay: '1h' });
  await box.startWorkers();
  await untilState(box, 'twice', 'failed');
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs/later');
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.locator('.state.state-completed').waitFor();
  await show('/jobs');
  const row = page.locator('[data-row="twice"]');
  await row.locator('a').first().focus();
  await page.keyboard.press('l');
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText('here', { exact: true }).waitFor();
  expect(page.url()).toEndWith('/jobs/twice?tab=output');
  await page.keyboard.press('r');
  await page.locator('.attempts [aria-current]').getByText('2', { exact: true }).waitFor();
  await untilState(box, 'twice', 'failed');
  await page.keyboard.press('[');
  await page.locator('.attempts [aria-current]').getByText('1', { exact: true }).waitFor();
  await page.keyboard.press(']');
  await page.locator('.attempts [aria-current]').getByText('2', { exact: true }).waitFor();
  await page.keyboard.press('f');
  await page.getByRole('button', { name: 'Follow', pressed: false }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('here');
  await page.getByText('1 of 1', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('p');
  await page.getByText('Queue default paused').waitFor();
  await page.keyboard.press('.');
  await page.locator('.live-paused').waitFor();
  await page.keyboard.press('.');
  await page.keyboard.press('u');
  await page.keyboard.press('d');
  await page.getByRole('dialog', { name: 'New job' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Timeline' }).click();
  await page.locator('.steps time').getByText('UTC').first().waitFor();
  await page.keyboard.press('Escape');
});
