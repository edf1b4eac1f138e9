import { afterAll, expect, test as plainTest } from 'bun:test';
import type { Page } from 'playwright-core';
import { offersFor, takeOffer } from '../../ui/jobs/filter.ts';
import { csv, sortRows } from '../../ui/parts/rows.ts';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue, until, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

/** Copies an item of a menu and returns the content of the clipboard. */
async function copyItem(page: Page, menu: string, what: string): Promise<string> {
  await page.locator('summary', { hasText: menu }).click();
  await page.getByRole('button', { name: what, exact: true }).click();
  await page.getByText('Copied').first().waitFor();
  await page.keyboard.press('Escape');
  return page.evaluate<string>('navigator.clipboard.readText()');
}

test('a list has its columns, order and name in its address, and can be copied as CLI, JSON and CSV', async (box) => {
  await enqueue(box, 'low', 'echo "a, b"', { queue: 'mail', priority: 1 });
  await enqueue(box, 'high', 'true', { queue: 'mail', priority: 9 });
  await enqueue(box, 'other', 'true');
  const { page, show, violations, origin, token } = await openDashboard(box, browser);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await show('/jobs?queue=mail');
  await page.locator('[data-row="low"]').waitFor();
  await page.locator('summary', { hasText: 'Columns' }).click();
  await page.getByLabel('Priority', { exact: true }).check();
  for (const name of ['Attempts', 'Run time', 'Updated', 'State'])
    await page.getByLabel(name, { exact: true }).uncheck();
  expect(page.url()).toEndWith('/jobs?queue=mail&columns=job%2Ccommand%2Cqueue%2Cpriority');
  await page.keyboard.press('Escape');
  await page.getByRole('columnheader', { name: 'Priority' }).getByRole('link').click();
  const ids = () =>
    page.evaluate<string[]>('[...document.querySelectorAll("[data-row]")].map((row) => row.dataset.row)');
  expect(await ids()).toEqual(['low', 'high']);
  await page.getByRole('columnheader', { name: 'Priority' }).getByRole('link').click();
  expect(await ids()).toEqual(['high', 'low']);

  expect(await copyItem(page, 'Copy', 'CLI command')).toBe('queuectl list --queue mail');
  expect(JSON.parse(await copyItem(page, 'Copy', 'JSON'))).toMatchObject([{ id: 'high' }, { id: 'low' }]);
  expect((await copyItem(page, 'Copy', 'CSV')).split('\r\n')).toEqual([
    'job,command,queue,priority',
    'high,true,mail,9',
    'low,"echo ""a, b""",mail,1',
  ]);

  await page.locator('summary', { hasText: 'Views' }).click();
  await page.getByLabel('View name').fill('Urgent mail');
  await page.keyboard.press('Enter');
  await page.getByText('View Urgent mail saved').waitFor();
  const shared = page.url();
  expect(shared).toContain('sort=-priority&view=Urgent+mail');
  await show('/jobs?state=dead');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('urgent');
  await page.getByRole('option', { name: /Urgent mail/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('[data-row="high"]').waitFor();
  expect(page.url()).toBe(shared);
  // Another user who opens the address sees the same list and can save it.
  const other = await (await browser.newContext()).newPage();
  await other.goto(`${origin}/jobs#token=${token}`);
  await other.locator('.frame').waitFor();
  await other.goto(shared);
  await other.locator('[data-row="high"]').waitFor();
  expect(await other.locator('th').allTextContents()).toEqual(['', 'Job', 'Command', 'Queue', 'Priority']);
  await other.locator('summary', { hasText: 'Urgent mail' }).click();
  await other.getByRole('button', { name: 'Save' }).click();
  await other.getByText('View Urgent mail saved').waitFor();
  await other.getByRole('button', { name: 'Delete view Urgent mail' }).click();
  expect(await other.evaluate('localStorage.getItem("queuectl-views")')).toBe('[]');
  expect(violations).toEqual([]);
});

test('facets and their values are suggested while typing, and selected jobs can be edited together', async (box) => {
  for (const id of ['a', 'b', 'c'])
    await enqueue(box, id, 'true', { name: id === 'a' ? 'send mail' : 'sync', queue: 'web' });
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs');
  await page.locator('[data-row="a"]').waitFor();
  const search = page.getByLabel('Search and filter');
  await search.pressSequentially('na');
  await page.getByRole('option', { name: 'name:' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.type('mai');
  await page.getByRole('option', { name: 'name:"send mail"' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByText('1 job', { exact: true }).waitFor();
  expect(page.url()).toEndWith('/jobs?name=send+mail');
  await show('/jobs?name=sync');
  await page.locator('[data-row="b"]').waitFor();
  await page.keyboard.press('a');
  await page.getByText('2 selected').waitFor();
  await page.locator('summary', { hasText: 'Edit' }).click();
  await page.getByLabel('Priority', { exact: true }).fill('7');
  await page.getByLabel('Queue', { exact: true }).fill('slow');
  await page.keyboard.press('Enter');
  await page.getByText('queuectl edit --name sync --yes --priority 7 --set-queue slow').waitFor();
  await page.getByRole('button', { name: 'Edit 2 jobs' }).click();
  await page.getByText('2 jobs changed').waitFor();
  for (const id of ['b', 'c'])
    expect(await box.json(['show', id])).toMatchObject({ priority: 7, queue: 'slow' });
  expect(await box.json(['show', 'a'])).toMatchObject({ priority: 0, queue: 'web' });
});

test('some jobs of a group are retried as a test, a group is muted, and keys act on the focused group', async (box) => {
  for (let i = 1; i <= 7; i++)
    await enqueue(box, `a${i}`, `echo no route to host 10.0.0.${i} >&2; exit 4`, { max_retries: 1 });
  await enqueue(box, 'other', 'exit 9', { max_retries: 1 });
  await box.run(['worker', 'start', '--drain']);
  const { page, show } = await openDashboard(box, browser);
  await show('/dlq');
  const group = page.locator('[data-row]', { hasText: 'no route to host' });
  await group.waitFor();
  const figures = await group.locator('td[data-label]').allTextContents();
  expect(figures.slice(0, 5)).toEqual(['7', '7', '7', '7', '7']);
  await group.locator('summary').click();
  await group.getByRole('button', { name: 'Retry 5 as a test' }).click();
  await page.getByRole('heading', { name: 'Retry 5 jobs?' }).waitFor();
  await page.getByRole('button', { name: 'Retry 5 jobs' }).click();
  await page.getByText('5 jobs retried').waitFor();
  expect(await box.json<unknown[]>(['list', '--state', 'pending'])).toHaveLength(5);
  await group.getByText('2', { exact: true }).first().waitFor();
  await group.locator('summary').click();
  await group.getByRole('button', { name: 'Mute in this browser' }).click();
  await page.getByText('1 muted group').waitFor();
  await page.reload();
  await page.getByText('1 muted group').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('#');
  await page.getByRole('button', { name: 'Delete 1 job' }).click();
  await page.getByText('1 job deleted').waitFor();
  expect((await box.run(['show', 'other'])).code).toBe(3);
  await untilState(box, 'a7', 'dead');
});

test('the activity can be filtered by actor', async (box) => {
  await enqueue(box, 'one', 'true');
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs/one');
  await page.getByRole('button', { name: 'Hold' }).click();
  await page.getByText('Job one held').waitFor();
  await show('/activity');
  await page.getByRole('cell', { name: 'Held', exact: true }).waitFor();
  await page.getByLabel('Actor').fill('http:');
  await page.keyboard.press('Enter');
  await page.getByRole('cell', { name: 'Enqueued', exact: true }).waitFor({ state: 'detached' });
  await until(async () => (await page.locator('tbody tr').count()) === 1, 'one event is shown');
  expect(page.url()).toEndWith('/activity?actor=http%3A');
});

plainTest('missing values are sorted last', () => {
  const rows = [null, 20, 3];
  expect(sortRows(rows, (row) => row, false)).toEqual([3, 20, null]);
  expect(sortRows(rows, (row) => row, true)).toEqual([20, 3, null]);
});

plainTest('CSV keeps a formula as text', () => {
  expect(csv([['=SUM(A1)', -5, null, 'a, b', 'a;=1']])).toBe(`'=SUM(A1),-5,,"a, b","a;'=1"`);
});

plainTest('a suggestion completes the current word', () => {
  const values = (facet: string) => (facet === 'error' ? ['no space left', 'no route'] : []);
  expect(offersFor('mail sta', values)).toEqual(['state:']);
  expect(offersFor('error:"no sp', values)).toEqual(['error:"no space left"']);
  expect(takeOffer('x error:"no sp', 'error:"no space left"')).toBe('x error:"no space left"');
});
