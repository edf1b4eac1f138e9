import { afterAll, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue, type Sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

const JOBS = 60;
const fill = (box: Sandbox): Promise<unknown> =>
  box.json([
    'enqueue',
    JSON.stringify(Array.from({ length: JOBS }, (_, i) => ({ id: `job-${i}`, command: `echo ${i}` }))),
  ]);

/** Returns the text of the table's header at this height, or null if something else is there. */
const headAt = (page: Page, y: number): Promise<string | null> =>
  page.evaluate<string | null>(
    `document.elementFromPoint(document.querySelector('.table').getBoundingClientRect().left + 60, ${y})?.closest('thead')?.textContent ?? null`,
  );

const edge = (page: Page, selector: string, side: 'top' | 'bottom'): Promise<number> =>
  page.evaluate<number>(`document.querySelector('${selector}').getBoundingClientRect().${side}`);

for (const width of [1440, 390]) {
  test(`the header of the job list stays below the top bar and the selection, in a window of ${width} pixels`, async (box) => {
    await fill(box);
    const { page, show } = await openDashboard(box, browser);
    await page.setViewportSize({ width, height: 760 });
    await show('/jobs');
    await page.locator('[data-row]').first().waitFor();
    await page.evaluate('scrollTo(0, 1200)');
    const bar = await edge(page, '.top', 'bottom');
    await until(async () => (await edge(page, 'thead th', 'top')) < bar + 15, 'the header sticks');
    expect(await headAt(page, bar + 12)).toContain('State');
    // A focused row is not hidden behind the header.
    for (const key of ['j', 'k', 'k', 'k']) await page.keyboard.press(key);
    const row = page.locator('[data-row]:focus-within');
    const head = await edge(page, 'thead', 'bottom');
    expect((await row.boundingBox())!.y).toBeGreaterThanOrEqual(Math.min(head, bar + 40));

    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.evaluate('scrollTo(0, 1200)');
    const selection = await edge(page, '.tools', 'bottom');
    expect(selection).toBeGreaterThan(bar + 40);
    expect(await edge(page, '.tools', 'top')).toBe(bar);
    expect(await headAt(page, selection + 12)).toContain('State');
    await page.getByRole('columnheader', { name: 'Job' }).getByRole('link').click();
    expect(page.url()).toContain('sort=job');
  });
}

test('a table that is wider than the page scrolls in its own box, and its header stays at the top of the box', async (box) => {
  await fill(box);
  const { page, show } = await openDashboard(box, browser);
  await page.setViewportSize({ width: 900, height: 760 });
  const columns = 'state,job,name,command,error,queue,tags,priority,attempts,exit,worker,ran,created,started';
  await show(`/jobs?columns=${columns}`);
  await page.locator('.table.scrolls').waitFor();
  const top = await edge(page, '.table', 'top');
  await page.evaluate('document.querySelector(".table").scrollTo(200, 500)');
  expect(await edge(page, 'thead th', 'top')).toBeLessThan(top + 3);
  expect(await headAt(page, top + 12)).toContain('State');
  // A narrower table has no box of its own.
  await show('/jobs?columns=job,command');
  await page.locator('[data-row]').first().waitFor();
  expect(await page.locator('.scrolls').count()).toBe(0);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(900);
});

test('screen readers find the list of jobs as a table with headers, in a wide window and on a phone', async (box) => {
  await enqueue(box, 'a', 'true');
  const { page, show } = await openDashboard(box, browser);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 760 });
    await show('/jobs');
    await page.locator('[data-row="a"]').waitFor();
    const client = await page.context().newCDPSession(page);
    const { nodes } = await client.send('Accessibility.getFullAXTree');
    const roles = nodes.filter(({ ignored }) => !ignored).map(({ role }) => String(role?.value));
    const count = (role: string): number => roles.filter((one) => one === role).length;
    expect([width, count('table'), count('row'), count('columnheader')]).toEqual([width, 1, 2, 8]);
    expect(count('cell')).toBeGreaterThan(3);
  }
});
