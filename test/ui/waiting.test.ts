import { afterAll, expect } from 'bun:test';
import { SHARED } from '../../ui/words/shared.ts';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { addEveryReason, WAITING_IDS } from '../support/every-reason.ts';
import { until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

test('the dashboard shows why jobs wait, how long a job has run, and at the end of a timeline what the job waits for', async (box) => {
  await addEveryReason(box);
  const { page, show, violations } = await openDashboard(box, browser);
  const texts = async (selector: string): Promise<string[]> =>
    (await page.locator(selector).allTextContents()).map((text) => text.trim());

  await show('/jobs');
  const facet = page.getByRole('navigation', { name: 'Waiting for' });
  await facet.getByRole('link').first().waitFor();
  expect(await facet.getByRole('link').allTextContents()).toEqual(
    Object.values(SHARED.reasons).map((reason) => `${reason}1`),
  );
  await page.locator('[data-row="retrying"]').waitFor();
  for (const id of WAITING_IDS) {
    const shown = await texts(`[data-row="${id}"] .reason`);
    const timed = id === 'scheduled' || id === 'retrying';
    const words = SHARED.reasons[id as keyof typeof SHARED.reasons];
    expect({ id, shown }).toEqual({ id, shown: [timed ? expect.stringMatching(/^in \d/) : words] });
  }
  expect(await texts('[data-row="parent"] .reason')).toEqual([]);
  expect(await texts('[data-row="parent"] td[data-label="Attempts"]')).toEqual(['1/3']);

  await facet.getByRole('link', { name: 'No worker' }).click();
  await page.locator('[data-row="ready"]').waitFor({ state: 'detached' });
  await page.locator('[data-row="no_worker"]').waitFor();
  expect(page.url()).toEndWith('/jobs?waiting_for=no_worker');
  expect(await texts('[data-row] .id')).toEqual(['no_worker']);
  await facet.getByRole('link', { name: 'No worker' }).click();
  await page.locator('[data-row="ready"]').waitFor();

  await show('/queues');
  await page.locator('[data-row="gpu"] .tag').waitFor();
  for (const [queue, tags] of [
    ['default', ['Held1', 'Blocked1', 'Scheduled1', 'Retrying1']],
    ['full', ['At limit1']],
    ['gpu', ['No worker1']],
    ['slow', ['Rate limited1']],
    ['shut', [expect.stringMatching(/^Paused .+ by .+@/)]],
  ] as const)
    expect(await texts(`[data-row="${queue}"] .tag`)).toEqual(tags as unknown as string[]);
  // No tag is cut while there is free space, and the rows have the same height.
  await page.setViewportSize({ width: 1440, height: 900 });
  expect(
    await page.evaluate(
      `[...document.querySelectorAll('.tag')].filter((one) => one.scrollWidth > one.clientWidth).length`,
    ),
  ).toBe(0);
  expect(
    await page.evaluate(
      `(([first, ...rest]) => rest.every((one) => Math.abs(one - first) <= 1))([...document.querySelectorAll('tbody tr')].map((one) => one.offsetHeight))`,
    ),
  ).toBe(true);
  await page.locator('[data-row="gpu"] .tag').click();
  await page.locator('[data-row="no_worker"]').waitFor();
  expect(page.url()).toEndWith('/jobs?queue=gpu&waiting_for=no_worker');

  await show('/jobs/parent');
  await page.getByText('Attempt 1 of 3').waitFor();
  const since = page.locator('.why time').first();
  await since.waitFor();
  const before = await since.textContent();
  await until(async () => (await since.textContent()) !== before, 'the time in the sentence goes on');
  expect(await texts('.why')).toEqual([expect.stringMatching(/running on worker \w+ for [\w ]+, since /)]);

  await show('/jobs/held');
  await page.locator('.timeline .ends').waitFor();
  expect(await texts('.timeline .ends')).toEqual([expect.stringMatching(/in totalHeld$/)]);
  await page.getByRole('button', { name: 'Release' }).waitFor();
  await show('/jobs/scheduled');
  await page.locator('.timeline .ends', { hasText: 'Next attempt in' }).waitFor();
  expect(violations).toEqual([]);
});
