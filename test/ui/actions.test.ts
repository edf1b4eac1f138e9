import { afterAll, expect } from 'bun:test';
import { join } from 'node:path';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue, lines, until, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

test('a dead job is retried from its page and then completes', async (box) => {
  await box.startWorkers();
  await enqueue(box, 'poor', 'test -e fixed', { max_retries: 1 });
  await untilState(box, 'poor', 'dead');
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs/poor');
  await page.getByText('the job failed permanently after 1 attempt').waitFor();
  await Bun.write(`${box.directory}/fixed`, '');
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.locator('header.job').getByText('Completed', { exact: true }).waitFor();
  await untilState(box, 'poor', 'completed');
});

test('an at-most-once job is retried only after a confirmation, and is skipped in bulk', async (box) => {
  await box.startWorkers();
  await enqueue(box, 'once', 'echo start >>starts; exit 4', { at_most_once: true });
  await untilState(box, 'once', 'dead');
  const { page, show } = await openDashboard(box, browser);
  await show('/dlq');
  const group = page.locator('[data-row]', { hasText: 'exit code 4' });
  await group.getByRole('button', { name: 'Retry all' }).click();
  await page.getByRole('button', { name: 'Retry 1 job' }).click();
  await page.getByText('0 jobs retried, 1 unchanged (1 skipped: retry at-most-once jobs').waitFor();
  await show('/jobs/once');
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByText('has already been started').waitFor();
  const starts = join(box.directory, 'starts');
  expect(lines(starts)).toHaveLength(1);
  await page.getByRole('button', { name: 'Start again' }).click();
  await until(() => lines(starts).length === 2, 'it was started again');
});

test('dead jobs are grouped by their error, and a whole group can be retried', async (box) => {
  for (let i = 1; i <= 3; i++)
    await enqueue(box, `a${i}`, `echo no route to host 10.0.0.${i} >&2; exit 4`, { max_retries: 1 });
  await enqueue(box, 'other', 'exit 9', { max_retries: 1 });
  await box.run(['worker', 'start', '--drain']);
  const { page, show } = await openDashboard(box, browser);
  await show('/dlq');
  const group = page.locator('[data-row]', { hasText: 'no route to host' });
  await group.getByRole('heading', { name: 'exit code 4: no route to host …' }).waitFor();
  expect(await page.locator('[data-row]').count()).toBe(2);
  await group.getByRole('button', { name: 'Retry all' }).click();
  await page.getByRole('button', { name: 'Retry 3 jobs' }).click();
  await page.getByText('3 jobs retried').waitFor();
  await untilState(box, 'a2', 'pending');
  await untilState(box, 'other', 'dead');
});

test('a queue is paused and resumed, and its limit is set', async (box) => {
  await enqueue(box, 'one', 'true', { queue: 'mail' });
  const { page, show } = await openDashboard(box, browser);
  await show('/queues');
  const row = page.locator('[data-row="mail"]');
  await row.getByRole('button', { name: 'Pause' }).click();
  await row.getByText('paused').waitFor();
  const queue = async () =>
    (await box.json<{ name: string; paused: boolean; concurrency: number }[]>(['queue', 'list']))[0]!;
  expect((await queue()).paused).toBe(true);
  await row.getByRole('button', { name: 'Resume' }).click();
  await row.getByRole('button', { name: 'Pause' }).waitFor();
  await row.getByRole('button', { name: 'Limits' }).click();
  await page.getByLabel('Max concurrent jobs').fill('7');
  await page.getByText('queuectl queue set mail --concurrency 7').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await row.getByText('7', { exact: true }).waitFor();
  expect(await queue()).toMatchObject({ paused: false, concurrency: 7 });
});

test('all matching jobs, not only those on the page, can be selected and are cancelled after their number is typed', async (box) => {
  const jobs = Array.from({ length: 130 }, (_, i) => ({ id: `bulk-${i}`, command: 'true', queue: 'bulk' }));
  await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(jobs) });
  await enqueue(box, 'spared', 'true');
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs?queue=bulk');
  await page.getByText('130 jobs').waitFor();
  await page.getByLabel('Select this page').check();
  await page.getByRole('button', { name: 'Select all 130 matching jobs' }).click();
  await page.getByText('130 selected').waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  const go = page.getByRole('button', { name: 'Cancel 130 jobs' });
  expect(await go.isDisabled()).toBe(true);
  await page.getByText('queuectl cancel --queue bulk --yes').waitFor();
  await page.getByLabel('Type 130 to confirm').fill('130');
  await go.click();
  await page.getByText('130 jobs cancelled').waitFor();
  expect(page.url()).toContain('?queue=bulk');
  expect(await box.json<unknown[]>(['list', '--state', 'cancelled'])).toHaveLength(130);
  await untilState(box, 'spared', 'pending');
});

test('jobs are found by text and facets, and the address contains the search', async (box) => {
  await enqueue(box, 'one', 'convert holiday.png', { queue: 'images' });
  await enqueue(box, 'two', 'convert holiday.png');
  await enqueue(box, 'three', 'echo other');
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs');
  const search = page.getByLabel('Search and filter');
  await search.fill('queue:images holiday');
  await search.press('Enter');
  await page.getByText('1 job', { exact: true }).waitFor();
  expect(page.url()).toEndWith('/jobs?queue=images&search=holiday');
  await page.reload();
  await page.locator('[data-row="one"]').waitFor();
  expect(await page.locator('[data-row]').count()).toBe(1);
  expect(await search.inputValue()).toBe('queue:images holiday');
  await search.fill('where is it');
  await search.press('Enter');
  await page.getByText('No jobs match.').waitFor();
  await page.getByText("queuectl list --search 'where is it'").waitFor();
});

test('the form for a new job shows the command line and the invalid field, and the job can be duplicated', async (box) => {
  const { page } = await openDashboard(box, browser);
  await page.getByRole('button', { name: 'New job' }).click();
  await page.getByLabel('Command', { exact: true }).fill("echo it's");
  await page.getByLabel('Queue').fill('mail');
  await page.getByLabel('Priority').fill('none');
  await page.getByText(`queuectl enqueue 'echo it'\\''s' --queue mail --priority none`).waitFor();
  await page.getByRole('button', { name: 'Enqueue' }).click();
  // The mistake is shown at its field, and the other input is kept.
  await page.getByRole('alert').getByText('priority must be').waitFor();
  await page.getByLabel('Priority').fill('5');
  await page.getByRole('button', { name: 'Enqueue' }).click();
  await page.getByRole('button', { name: 'Duplicate' }).click();
  await page.getByRole('button', { name: 'Enqueue' }).click();
  // The jobs are read from the store, because the message about the first one may already be gone.
  const jobs = await until(async () => {
    const found = await box.json<{ command: string; queue: string; priority: number }[]>(['list']);
    return found.length === 2 && found;
  }, 'both are enqueued');
  for (const job of jobs) expect(job).toMatchObject({ command: "echo it's", queue: 'mail', priority: 5 });
});

test('editing a waiting job changes only the edited fields, and the form shows the command line', async (box) => {
  await enqueue(box, 'one', 'echo before', { priority: 1, queue: 'mail' });
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs/one');
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Priority').fill('9');
  await page.getByLabel('Command', { exact: true }).fill('echo after');
  await page.getByText("queuectl edit one --command 'echo after' --priority 9").waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Job one changed').waitFor();
  await page.locator('.job-command').getByText('echo after').waitFor();
  expect(await box.json(['show', 'one'])).toMatchObject({
    command: 'echo after',
    priority: 9,
    queue: 'mail',
  });
});
