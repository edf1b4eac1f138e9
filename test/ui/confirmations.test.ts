import { afterAll, expect } from 'bun:test';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { startGatedJob } from '../support/gated-job.ts';
import { enqueue, until, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

test('a command of several lines is edited in several lines', async (box) => {
  const lines = 'echo one\necho two\nrm -f three';
  await enqueue(box, 'lines', lines);
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs/lines');
  await page.locator('.job-command').waitFor();
  await page.keyboard.press('e');
  const field = page.getByLabel('Command', { exact: true });
  expect(await field.inputValue()).toBe(lines);
  await field.press('Control+End');
  await page.keyboard.type(' four');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Job lines changed').waitFor();
  expect(await box.json(['show', 'lines'])).toMatchObject({ command: `${lines} four` });
});

test('a bulk action is refused until its jobs are counted', async (box) => {
  await enqueue(box, 'victim', 'true', { queue: 'mail' });
  const { page, show } = await openDashboard(box, browser);
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/api/v1/jobs?*', async (route) => {
    await gate;
    await route.continue();
  });
  await show('/jobs?queue=mail');
  await page.getByText('Loading…').waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('#');
  await page.getByText('Still counting these jobs').first().waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  release();
  await page.locator('[data-row="victim"]').waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('#');
  await page.getByRole('button', { name: 'Delete 1 job' }).click();
  await page.getByText('1 job deleted').waitFor();
});

test('all jobs can be selected without a filter, and the command line then names all states', async (box) => {
  await enqueue(box, 'one', 'true');
  await enqueue(box, 'two', 'true', { queue: 'mail' });
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs');
  await page.locator('[data-row="two"]').waitFor();
  await page.keyboard.press('a');
  await page.getByText('2 selected').waitFor();
  await page.locator('summary', { hasText: 'Edit' }).click();
  await page.getByLabel('Queue', { exact: true }).fill('a b; rm -rf ~');
  await page.keyboard.press('Enter');
  const every = 'pending,processing,completed,failed,dead,cancelled';
  await page.getByText(`queuectl edit --state ${every} --yes --set-queue 'a b; rm -rf ~'`).waitFor();
  await page.getByRole('button', { name: 'Go back' }).click();
  await page.keyboard.press('#');
  await page.getByText(`queuectl delete --state ${every} --yes`).waitFor();
  await page.getByRole('button', { name: 'Delete 2 jobs' }).click();
  await page.getByText('2 jobs deleted').waitFor();
  expect(await box.json<unknown[]>(['list'])).toEqual([]);
});

test('the shown curl command for a group of dead jobs retries exactly that group', async (box) => {
  for (const [i, code] of [1, 1, 17, 127].entries())
    await enqueue(box, `dead-${i}`, `exit ${code}`, { max_retries: 1 });
  await box.run(['worker', 'start', '--drain']);
  const { page, show, token } = await openDashboard(box, browser);
  await show('/dlq');
  const group = page.locator('[data-row="exit code 1"]');
  await group.getByText('2', { exact: true }).first().waitFor();
  // The number is not a link, because a search by the error would also find other jobs. The link names its search.
  expect(await group.getByRole('link', { name: '2', exact: true }).count()).toBe(0);
  await group.getByRole('link', { name: 'Search for “exit code 1”' }).waitFor();
  await group.getByRole('button', { name: 'Retry all' }).click();
  const call = (await page.locator('.confirm .cli code').textContent())!;
  expect(call).toStartWith('curl ');
  const ran = Bun.spawn(['sh', '-c', call], {
    env: { ...process.env, TOKEN: token },
    stdout: 'pipe',
    stderr: 'ignore',
  });
  expect(await new Response(ran.stdout).json()).toMatchObject({ action: 'retry' });
  await until(
    async () => (await box.json<unknown[]>(['list', '--state', 'pending'])).length === 2,
    'the two of the group are retried',
  );
  const remaining = await box.json<{ exit_code: number }[]>(['list', '--state', 'dead']);
  expect(remaining.map((job) => job.exit_code).sort()).toEqual([127, 17]);
});

test('cancelling a running job asks first', async (box) => {
  await box.startWorkers();
  const job = await startGatedJob(box, 'busy');
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs/busy');
  const state = page.locator('header.job .state').first();
  await state.getByText('processing').waitFor();
  await page.keyboard.press('c');
  await page.getByRole('heading', { name: 'Cancel job busy?' }).waitFor();
  await page.getByRole('button', { name: 'Go back' }).click();
  await untilState(box, 'busy', 'processing');
  job.release();
  await state.getByText('completed').waitFor();
});

test("a user's own changes are shown on a paused page", async (box) => {
  await enqueue(box, 'later', 'true', { delay: '2h' });
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs/later');
  const state = page.locator('header.job .state').first();
  await state.getByText('pending').waitFor();
  await page.keyboard.press('.');
  await page.getByRole('button', { name: 'paused' }).waitFor();
  // There are two changes, because the first may be shown by a refresh that was already due.
  await page.getByRole('button', { name: 'Hold' }).click();
  await page.getByRole('button', { name: 'Release' }).click();
  await page.getByRole('button', { name: 'Hold' }).waitFor();
  await page.keyboard.press('c');
  await state.getByText('cancelled').waitFor();
  await page.getByRole('button', { name: 'Retry' }).waitFor();
});

test('run now uses the time of the server, whatever the clock of the browser shows', async (box) => {
  await enqueue(box, 'later', 'true', { delay: '30m' });
  const { page, show } = await openDashboard(box, browser);
  await page.clock.install({ time: Date.now() + 3_600_000 });
  await show('/jobs/later');
  await page.getByRole('button', { name: 'Run now' }).click();
  await until(async () => {
    const { next_run_at } = await box.json<{ next_run_at: string }>(['show', 'later']);
    return Date.parse(next_run_at) <= Date.now();
  }, 'it is due');
});
