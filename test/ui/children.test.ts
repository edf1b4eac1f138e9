import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue, inSandbox, untilState } from '../support/queuectl.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test(
  'a job page shows the children, and the delete dialog tells how many jobs are cancelled with the job',
  inSandbox(async (box) => {
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
  }),
);
