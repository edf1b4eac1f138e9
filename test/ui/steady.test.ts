import { afterAll, expect } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { startGatedJob } from '../support/gated-job.ts';
import { enqueue, type Sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

const rowsOf = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>('[...document.querySelectorAll("[data-row]")].map((row) => row.dataset.row)');

/** Moves the pointer to the middle of an element and returns that point. */
async function pointAt(page: Page, target: Locator): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = (await target.boundingBox())!;
  const point = { x: x + width / 2, y: y + height / 2 };
  await page.mouse.move(point.x, point.y);
  return point;
}

/** Moves the pointer away from all lists. */
const leave = (page: Page): Promise<void> => page.mouse.move(3, 3);

const topOf = async (target: Locator): Promise<number> => (await target.boundingBox())!.y;

const untilRows = (page: Page, expected: string[]): Promise<unknown> =>
  until(async () => (await rowsOf(page)).join() === expected.join(), `the rows are ${expected}`);

test('under the pointer, jobs are updated in their places, and a click hits the job that was shown there', async (box) => {
  for (const id of ['a', 'b', 'c']) await enqueue(box, id, 'true');
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs?state=pending');
  const row = (id: string): Locator => page.locator(`[data-row="${id}"]`);
  await row('a').waitFor();
  const point = await pointAt(page, row('b').getByRole('link'));
  for (const id of ['d', 'e']) await enqueue(box, id, 'true');
  await box.run(['cancel', 'c']);
  await page.getByRole('button', { name: 'Show 2 new jobs' }).waitFor();
  // A job that no longer matches stays where it was, dimmed.
  await page.locator('[data-row="c"].gone').waitFor();
  expect(await rowsOf(page)).toEqual(['c', 'b', 'a']);
  await box.run(['edit', 'a', '--priority', '7']);
  await page.mouse.click(point.x, point.y);
  await page.getByRole('heading', { name: 'b', exact: true }).waitFor();

  await page.goBack();
  await untilRows(page, ['e', 'd', 'b', 'a']);
  await pointAt(page, row('b'));
  await enqueue(box, 'f', 'true');
  await page.getByRole('button', { name: 'Show 1 new job' }).waitFor();
  await leave(page);
  await untilRows(page, ['f', 'e', 'd', 'b', 'a']);
  expect(await page.getByRole('button', { name: /^Show/ }).count()).toBe(0);
});

test('a row keeps its height when an error appears, until the pointer leaves', async (box) => {
  await enqueue(box, 'below', 'true', { delay: 3600 });
  await box.startWorkers();
  const job = await startGatedJob(box, 'fails', 3);
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs');
  const below = page.locator('[data-row="below"]');
  await page.locator('[data-row="fails"] .state-processing').waitFor();
  await pointAt(page, below);
  const before = await topOf(below);
  job.release();
  await page.locator('[data-row="fails"] .state-dead').waitFor();
  expect(await topOf(below)).toBe(before);
  await leave(page);
  await page.locator('[data-row="fails"]').getByText('exit code 3').waitFor();
  expect(await topOf(below)).toBeGreaterThan(before);
});

test('while a row is focused or selected, new rows stay hidden until Escape or a click, and selecting moves nothing', async (box) => {
  for (const id of ['a', 'b', 'c']) await enqueue(box, id, 'true');
  const { page, show } = await openDashboard(box, browser);
  await leave(page);
  await show('/jobs');
  const row = page.locator('[data-row="b"]');
  await row.waitFor();
  await page.keyboard.press('j');
  await enqueue(box, 'd', 'true');
  await page.getByRole('button', { name: 'Show 1 new job' }).waitFor();
  expect(await rowsOf(page)).toEqual(['c', 'b', 'a']);
  await page.keyboard.press('Escape');
  await untilRows(page, ['d', 'c', 'b', 'a']);

  const before = await topOf(row);
  await row.getByRole('checkbox').click();
  await page.getByText('1 selected').waitFor();
  expect(await topOf(row)).toBe(before);
  await page.evaluate('document.activeElement.blur()');
  await leave(page);
  await enqueue(box, 'e', 'true');
  const more = page.getByRole('button', { name: 'Show 1 new job' });
  await more.waitFor();
  expect(await topOf(row)).toBe(before);
  await more.click();
  await untilRows(page, ['e', 'd', 'c', 'b', 'a']);
  await page.getByText('1 selected').waitFor();
  expect(await row.getByRole('checkbox').isChecked()).toBe(true);
});

test('jobs that new ones push off the page are still updated', async (box) => {
  const ids = Array.from({ length: 51 }, (_, i) => `job-${i}`);
  await box.json(['enqueue', JSON.stringify(ids.map((id) => ({ id, command: 'true' })))]);
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs');
  const last = page.locator('[data-row="job-1"]');
  await last.waitFor();
  const older = await page.getByRole('link', { name: 'Older' }).getAttribute('href');
  await page.keyboard.press('j');
  for (const id of ['new-1', 'new-2']) await enqueue(box, id, 'true');
  await page.getByRole('button', { name: 'Show 2 new jobs' }).waitFor();
  await box.run(['cancel', 'job-1']);
  await last.locator('.state-cancelled').waitFor();
  expect(await page.locator('.gone').count()).toBe(0);
  // The next page follows the shown jobs.
  expect(await page.getByRole('link', { name: 'Older' }).getAttribute('href')).toBe(older);
  await page.keyboard.press('Escape');
  await last.waitFor({ state: 'detached' });
});

/** The other lists: the path, a step that adds the first row, a step that adds a second one, and the button that shows it. */
const LISTS: [path: string, first: Step, second: Step, button: RegExp][] = [
  [
    '/queues',
    (box) => enqueue(box, 'a', 'true', { queue: 'beta' }),
    (box) => enqueue(box, 'b', 'true', { queue: 'alpha' }),
    /^Show 1 new queue$/,
  ],
  [
    '/schedules',
    (box) => box.json(['schedule', 'add', 'beta', '--every', '1h', 'true']),
    (box) => box.json(['schedule', 'add', 'alpha', '--every', '1h', 'true']),
    /^Show 1 new schedule$/,
  ],
  ['/workers', (box) => box.startWorkers(), (box) => box.startWorkers(), /^Show 1 new worker$/],
  ['/activity', (box) => enqueue(box, 'a', 'true'), (box) => enqueue(box, 'b', 'true'), /^Show 1 new event$/],
  ['/dlq', (box) => addDeadJob(box, 'one'), (box) => addDeadJob(box, 'other'), /^Show 1 new group$/],
  ['/', (box) => startGatedJob(box, 'a'), (box) => startGatedJob(box, 'b'), /^Show 1 new job$/],
  [
    '/jobs/a?tab=events',
    (box) => enqueue(box, 'a', 'true', { delay: 3600 }),
    (box) => box.run(['edit', 'a', '--priority', '7']),
    /^Show 1 new event$/,
  ],
  [
    '/jobs/a?tab=related',
    (box) => enqueue(box, 'a', 'true', { name: 'same' }).then(() => again(box)),
    (box) => again(box),
    /^Show 1 new job$/,
  ],
  [
    '/stats?range=1h',
    (box) => runNamed(box, 'slow', 'sleep 0.3'),
    (box) => runNamed(box, 'quick', 'true'),
    /^Show 1 new name$/,
  ],
];
const again: Step = (box) => box.json(['enqueue', 'true', '--name', 'same']);
type Step = (box: Sandbox) => Promise<unknown>;

async function addDeadJob(box: Sandbox, error: string): Promise<void> {
  await enqueue(box, error, `echo ${error} failure >&2; exit 3`, { max_retries: 1 });
  await box.run(['worker', 'start', '--drain']);
}

async function runNamed(box: Sandbox, name: string, command: string): Promise<void> {
  await enqueue(box, name, command, { name });
  await box.run(['worker', 'start', '--drain']);
}

for (const [path, first, second, button] of LISTS) {
  test(`rows of ${path} keep their places under the pointer`, async (box) => {
    if (path === '/') await box.startWorkers('--concurrency', '2');
    await first(box);
    const { page, show, violations } = await openDashboard(box, browser);
    // The overview shows the warnings of the checks above its lists.
    const checked = path === '/' ? page.waitForResponse(/doctor/) : null;
    await show(path);
    await checked;
    const row = page.locator('[data-row]').first();
    await row.waitFor();
    const shown = await rowsOf(page);
    await row.scrollIntoViewIfNeeded();
    await pointAt(page, row);
    const before = await topOf(row);
    await second(box);
    await page.getByRole('button', { name: button }).waitFor();
    expect([await rowsOf(page), await topOf(row)]).toEqual([shown, before]);
    await leave(page);
    await until(async () => (await rowsOf(page)).length > shown.length, 'the new row is shown');
    expect(violations).toEqual([]);
  });
}

test('a pointer on one list of the overview holds no other list and hides no warning', async (box) => {
  await box.startWorkers('--queue', 'default');
  const job = await startGatedJob(box, 'runs');
  const { page, show } = await openDashboard(box, browser);
  await show('/');
  await pointAt(page, page.locator('[data-row="runs"]'));
  await enqueue(box, 'waits', 'true', { queue: 'gpu' });
  await page.getByText('No worker serves queue gpu. 1 job is waiting.').waitFor();
  const strip = page.locator('.strip').first();
  await strip.getByRole('link', { name: 'gpu' }).waitFor();

  await pointAt(page, strip.getByRole('link', { name: 'gpu' }));
  await enqueue(box, 'other', 'true', { queue: 'arm' });
  await page.getByText('No worker serves queue arm. 1 job is waiting.').waitFor();
  await page.getByRole('button', { name: 'Show 1 new queue' }).click();
  await strip.getByRole('link', { name: 'arm' }).waitFor();
  job.release();
});

test('a pointer on the warnings keeps the place of one that is gone and shows a new one', async (box) => {
  await enqueue(box, 'a', 'true', { queue: 'mail' });
  await box.json(['queue', 'pause', 'mail']);
  const { page, show } = await openDashboard(box, browser);
  await show('/');
  const warning = page.getByText('Queue mail is paused. 1 job is waiting.');
  await warning.waitFor();
  await pointAt(page, warning);
  await box.run(['cancel', 'a']);
  await enqueue(box, 'b', 'true', { queue: 'print' });
  await page.getByText('1 job is waiting, but no worker is running').waitFor();
  await page.locator('.attention .gone', { hasText: 'Queue mail' }).waitFor();
  await leave(page);
  await warning.waitFor({ state: 'detached' });
});
