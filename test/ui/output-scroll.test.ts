import { afterAll, expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue, type Sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

/** Runs a job that prints numbers, ten more for each file that `more` creates, and opens its page. */
async function openCounting(box: Sandbox, last: number) {
  await box.startWorkers();
  const wait = (name: string): string => `until test -e ${join(box.directory, name)}; do sleep 0.05; done`;
  const command = `seq ${last}; ${wait('1')}; seq ${last + 1} ${last + 10}; ${wait('2')}; seq ${last + 11} ${last + 20}; ${wait('3')}`;
  await enqueue(box, 'count', command);
  const dashboard = await openDashboard(box, browser);
  await dashboard.show('/jobs/count?tab=output');
  const output = dashboard.page.getByRole('region', { name: 'Output' });
  await output.locator('code').getByText(String(last), { exact: true }).waitFor();
  return { ...dashboard, output, more: (name: string): void => writeFileSync(join(box.directory, name), '') };
}

type Turn = PromiseWithResolvers<void>;

const shownNumbers = (output: Locator): Promise<number[]> =>
  output
    .locator('.row code')
    .allInnerTexts()
    .then((texts) => texts.map(Number));

test('scrolling up stops following, even if new output arrives before the scroll event', async (box) => {
  const { page, output, more } = await openCounting(box, 10_000);
  const follow = page.getByRole('button', { name: 'Follow' });
  expect(await follow.getAttribute('aria-pressed')).toBe('true');
  // Observers run between the change of the page, which scrolls down, and the scroll event.
  await output.evaluate((box) => {
    const observer = new MutationObserver(() => {
      observer.disconnect();
      box.scrollTop -= 100;
    });
    observer.observe(box, { childList: true, subtree: true, characterData: true });
  });
  more('1');
  await until(async () => (await follow.getAttribute('aria-pressed')) === 'false', 'following has stopped');
  expect(await output.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop)).toBe(100);
  more('2');
  await follow.click();
  await output.locator('code').getByText('10020', { exact: true }).waitFor();
  more('3');
});

test('stepping to a match stops following', async (box) => {
  const { page, output, more } = await openCounting(box, 10_000);
  const follow = page.getByRole('button', { name: 'Follow' });
  const search = page.getByLabel('Search the loaded output');
  await search.fill('7777');
  const match = output.locator('.marked code', { hasText: '7777' });
  await match.waitFor();
  for (const step of ['n', 'Enter']) {
    // The click takes the focus from the search field.
    await follow.click();
    await output.locator('code').getByText('10000', { exact: true }).waitFor();
    if (step === 'Enter') await search.press(step);
    else await page.keyboard.press(step);
    await match.waitFor();
    expect(await follow.getAttribute('aria-pressed')).toBe('false');
  }
  for (const name of ['1', '2', '3']) more(name);
});

test('the start of the output is shown without a hole, even if the answer to an earlier request is late', async (box) => {
  const { page, output, more, origin, api } = await openCounting(box, 200_000);
  const [held, pressed, next] = [0, 1, 2].map(() => Promise.withResolvers<void>()) as [Turn, Turn, Turn];
  let first = true;
  await page.route('**/output?*', async (route) => {
    if (!first) return route.continue().then(next.resolve);
    first = false;
    // The next request for the end is answered only after the button was pressed.
    more('1');
    await until(async () => (await box.run(['logs', 'count'])).stdout.endsWith('200010\n'), 'more lines');
    const response = await route.fetch({ url: route.request().url().replace(`${origin}/`, api) });
    held.resolve();
    await pressed.promise;
    // A page that sends the next request meanwhile gets the answer to it first.
    await Promise.race([next.promise, page.waitForTimeout(500)]);
    await page.waitForTimeout(100);
    await route.fulfill({ response });
  });
  await held.promise;
  await page.getByRole('button', { name: 'Start' }).click();
  pressed.resolve();
  await until(async () => (await shownNumbers(output))[0] === 1, 'the first line is shown');
  for (const _ of Array(3)) {
    await output.evaluate((box) => {
      box.scrollTop = box.scrollHeight;
    });
    await until(async () => !(await shownNumbers(output)).includes(1), 'the page has scrolled');
    // The last line may be incomplete until more of the output is read.
    const numbers = (await shownNumbers(output)).slice(0, -1);
    expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i));
  }
  more('2');
  more('3');
});
