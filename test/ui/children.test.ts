import { afterAll, expect } from 'bun:test';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

test('a job page shows the children, and the delete dialog tells how many jobs are cancelled with the job', async (box) => {
  await enqueue(box, 'parent', 'true');
  await enqueue(box, 'child', 'true', { depends_on: ['parent'] });
  await enqueue(box, 'grandchild', 'true', { depends_on: ['child'] });
  await enqueue(box, 'other', 'true');
  const { page, show, violations } = await openDashboard(box, browser);

  await show('/jobs/parent');
  await page.getByRole('link', { name: '1 job waiting for it' }).click();
  await page.getByRole('heading', { name: 'Jobs that depend on this job' }).waitFor();
  expect(await page.locator('.strip li').allTextContents()).toEqual([
    'Pendingchildafter this job has completed',
  ]);
  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('This also cancels 2 jobs that depend on it.').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Job parent deleted, 2 jobs that depend on it cancelled').waitFor();
  await untilState(box, 'grandchild', 'cancelled');

  await show('/jobs/other');
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.waitFor();
  expect(await dialog.textContent()).not.toContain('also cancels');
  expect(violations).toEqual([]);
});

test('the dialog of a bulk action tells how many other jobs it cancels, and a message tells how many were cancelled', async (box) => {
  for (const parent of ['one', 'two', 'three']) {
    await enqueue(box, parent, 'true', { queue: parent === 'three' ? 'other' : 'mail' });
    await enqueue(box, `${parent}-child`, 'true', { depends_on: [parent] });
  }
  const { page, show } = await openDashboard(box, browser);
  const dialog = page.getByRole('dialog');
  const selectAll = async (path: string, row: string): Promise<void> => {
    await show(path);
    await page.locator(`[data-row="${row}"]`).waitFor();
    await page.keyboard.press('a');
  };
  await selectAll('/jobs?queue=mail', 'one');
  await page.keyboard.press('c');
  await dialog.getByText('This also cancels 2 jobs that depend on them.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel 2 jobs' }).click();
  await page.getByText('2 jobs cancelled, 2 dependent jobs cancelled').waitFor();
  await untilState(box, 'two-child', 'cancelled');

  await selectAll('/jobs?queue=mail', 'one');
  await page.keyboard.press('#');
  await dialog.waitFor();
  expect(await dialog.textContent()).not.toContain('depend');
  await page.keyboard.press('Escape');

  // The message after the action is right even if the number could not be read before.
  await page.route('**/children', (route) => route.abort());
  await show('/jobs/three');
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText('Jobs that depend on it may be cancelled, too.').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Job three deleted, 1 job that depends on it cancelled').waitFor();
});
