import { afterAll, expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue, until, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

test('a queue page shows statistics, who paused it, limits, charts with tables, and running jobs', async (box) => {
  for (let i = 0; i < 5; i++) await enqueue(box, `m${i}`, 'true', { queue: 'mail', name: 'send' });
  await enqueue(box, 'bad', 'exit 3', { queue: 'mail', name: 'import', max_retries: 1 });
  await box.run(['worker', 'start', '--drain']);
  await enqueue(box, 'waits', 'sleep 60', { queue: 'mail' });
  const { page, show, violations } = await openDashboard(box, browser);
  await show('/queues');
  await page.getByRole('link', { name: 'mail' }).click();
  await page.getByRole('heading', { name: 'mail' }).waitFor();
  await page.getByText('No worker serves this queue').waitFor();
  const tile = (label: string) => page.locator('.tile', { hasText: label }).first().locator('.value');
  await tile('Failed').getByText('1').waitFor();
  expect(await tile('Waiting').textContent()).toBe('1');
  expect(await tile('Dead').textContent()).toBe('1');
  expect(await tile('Oldest waiting job').textContent()).toMatch(/^\d+s$/);
  expect(await tile('Run time p95').textContent()).toMatch(/ms$/);
  const names = page.locator('tr', { hasText: 'send' });
  await names.getByText('5', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText(/^Paused .* by http:/).waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Limits' }).click();
  await page.getByLabel('Max concurrent jobs').fill('2');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Max concurrent jobs: 2').waitFor();
  await page.locator('.tile', { hasText: '0/2' }).waitFor();

  // The chart has the same data as text and as a table.
  const chart = page.locator('figure', { hasText: 'Throughput' });
  await chart.getByText('enqueued 7').waitFor();
  await chart.getByText('Show as table').click();
  const newest = chart.locator('tbody tr').first();
  await newest.waitFor();
  expect(await chart.locator('tbody tr').count()).toBe(5);
  // Pointing at one chart shows the same moment in the others.
  await page.locator('.plot .u-over').nth(1).hover();
  await until(async () => (await page.locator('.legend .at').count()) === 3, 'all charts show that moment');

  await box.startWorkers();
  await page
    .locator('[data-row="waits"]')
    .getByText(/^\d+s$/)
    .waitFor();
  await page.getByText('Served by').waitFor();
  expect(violations).toEqual([]);
});

interface ScheduleJson {
  name: string;
  cron: string | null;
  every_ms: number | null;
  timezone: string | null;
  overlap: string;
  command: string;
  queue: string;
  paused: boolean;
}

test('a schedule is added after a preview of its runs, edited, paused, run and removed', async (box) => {
  const { page, show, violations } = await openDashboard(box, browser);
  const all = () => box.json<ScheduleJson[]>(['schedule', 'list']);
  await show('/schedules');
  await page.getByText('No schedules yet').waitFor();
  await page.getByRole('button', { name: 'New schedule' }).click();
  const form = page.getByRole('dialog', { name: 'New schedule' });
  await form.getByLabel('Name').fill('nightly');
  await form.getByLabel('Cron expression').fill('61 2 * * *');
  await form.getByText("has an invalid minute: '61'").waitFor();
  await form.getByLabel('Cron expression').fill('30 2 * * mon-fri');
  await form.getByLabel('Time zone').fill('Europe/Berlin');
  await form.getByText('at 02:30, Monday through Friday').waitFor();
  expect(await form.locator('.times li').count()).toBe(5);
  await form.getByLabel('Command').fill('make backup');
  await form.getByLabel('Queue').fill('ops');
  await form
    .getByText(
      "queuectl schedule add nightly --cron '30 2 * * mon-fri' --tz Europe/Berlin --queue ops --command 'make backup'",
    )
    .waitFor();
  await form.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'nightly' }).waitFor();
  expect(page.url()).toEndWith('/schedules/nightly');
  await page.getByText('This schedule has not run yet.').waitFor();
  expect(await all()).toMatchObject([
    { name: 'nightly', cron: '30 2 * * mon-fri', timezone: 'Europe/Berlin', queue: 'ops', overlap: 'skip' },
  ]);

  await page.getByRole('button', { name: 'Edit' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit schedule nightly' });
  await edit.getByLabel('Fixed interval').check();
  await edit.getByLabel('Every').fill('90s');
  await edit.getByText('Every 90s', { exact: true }).waitFor();
  await edit.getByLabel('Overlap').selectOption('queue');
  await edit.getByLabel('Command').fill('echo edited');
  await edit
    .getByText("queuectl schedule edit nightly --every 90s --overlap queue --command 'echo edited'")
    .waitFor();
  await edit.getByRole('button', { name: 'Save' }).click();
  await page.locator('.big', { hasText: 'every 90s' }).waitFor();
  expect(await all()).toMatchObject([
    { cron: null, every_ms: 90_000, overlap: 'queue', command: 'echo edited', queue: 'ops' },
  ]);

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText(/^Paused .* by http:/).waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.locator('header.job').getByText('Pending', { exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('list', { name: 'Last runs' }).getByRole('link').waitFor();
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No schedules yet').waitFor();
  expect(await all()).toEqual([]);
  expect(violations).toEqual([]);
});

test('a worker can be stopped on its page, and the other worker continues', async (box) => {
  await box.startWorkers('--concurrency', '3');
  await box.startWorkers('--queue', 'slow');
  await enqueue(box, 'long', 'sleep 60', { queue: 'slow', name: 'sleeper' });
  await untilState(box, 'long', 'processing');
  const { page, show, violations } = await openDashboard(box, browser);
  await show('/workers');
  await page.getByText('2 workers, 1 of 4 slots busy').waitFor();
  await page.locator('tr', { hasText: 'None' }).getByRole('link').first().click();
  await page.getByText('No jobs are running.').waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  const asked = page.getByRole('dialog');
  await asked.getByText(/queuectl worker stop \w+/).waitFor();
  await asked.getByRole('button', { name: 'Stop worker' }).click();
  await page.getByText('is no longer running').waitFor();
  const remaining = await until(async () => {
    const found = await box.json<{ current_jobs: string[] }[]>(['worker', 'list']);
    return found.length === 1 ? found : false;
  }, 'one worker is left');
  expect(remaining[0]!.current_jobs).toEqual(['long']);
  await untilState(box, 'long', 'processing');
  expect(violations).toEqual([]);
});

test('the overview shows warnings, settings show who changed them, metrics can be filtered, and doctor can run again', async (box) => {
  await enqueue(box, 'dies', 'exit 3', { max_retries: 1, name: 'import' });
  await enqueue(box, 'mends', 'test -e again || ! touch again', { retry_delay_ms: 1, backoff: 'fixed' });
  await box.run(['worker', 'start', '--drain']);
  await enqueue(box, 'stays', 'true', { queue: 'mail' });
  await box.run(['config', 'set', 'max-retries', '7']);
  const { page, show, violations } = await openDashboard(box, browser);
  const attention = page.getByRole('list', { name: 'Needs attention' });
  await attention.getByText('1 job is waiting, but no worker is running').waitFor();
  await attention.getByText('1 job failed permanently in the last hour').waitFor();
  const tile = (label: string) => page.locator('.tile', { hasText: label });
  // The job `dies` had one failed attempt, and `mends` another one before it completed.
  await tile('Attempts failed (24h)').getByText('2', { exact: true }).waitFor();
  const { success_rate } = await box.json<{ success_rate: number }>(['stats']);
  expect(success_rate).toBe(0.5);
  await tile('Jobs completed (24h)').getByText('50%', { exact: true }).waitFor();
  expect((await box.run(['stats'])).stdout).toContain('jobs completed\t50%\n');
  await box.startWorkers('--queue', 'default');
  await attention.getByText('No worker serves queue mail. 1 job is waiting.').waitFor();

  await show('/settings');
  const row = (name: string) => page.locator(`[data-row="${name}"]`);
  await row('max-retries')
    .getByText(/@.*ago$/)
    .waitFor();
  await row('lease').getByText('Default', { exact: true }).waitFor();

  await show('/stats?range=24h');
  await page.locator('tr', { hasText: 'import' }).first().waitFor();
  await page.getByText('2 attempts failed (67%)').waitFor();
  await page.getByText('queuectl stats --range 24h').waitFor();
  await page.getByLabel('Queue').selectOption('mail');
  await page.getByText('No attempts ended in this period.').waitFor();
  expect(page.url()).toEndWith('/stats?range=24h&queue=mail');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download the dashboard' }).click(),
  ]);
  const saved = JSON.parse(readFileSync(await download.path(), 'utf8'));
  expect(saved.panels.length).toBeGreaterThan(5);

  await show('/doctor');
  await page.locator('[data-row="stuck jobs"]').getByText('OK', { exact: true }).first().waitFor();
  await page.locator('[data-row="workers"]').getByText('1 running').waitFor();
  await box.run(['worker', 'stop']);
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.locator('[data-row="workers"]').getByText('queuectl worker start').waitFor();
  expect(violations).toEqual([]);
});
