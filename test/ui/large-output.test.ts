import { afterAll, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

test('the page reads only the shown parts of an output of 200 MB, at its end and at its start', async (box) => {
  await box.run(['config', 'set', 'output-limit', '1gb']);
  await box.startWorkers();
  const line = 'a line of the log that is neither long nor short';
  await enqueue(box, 'long', `echo begin; yes '${line}' | head -c 200000000; echo; echo end`);
  await untilState(box, 'long', 'completed');
  const { page, show } = await openDashboard(box, browser);
  let bytes = 0;
  page.on('response', (answer) => {
    if (!answer.url().includes('/output?')) return;
    expect(Number(answer.headers()['queuectl-size'])).toBeGreaterThan(200_000_000);
    bytes += Number(answer.headers()['queuectl-next']) - Number(answer.headers()['queuectl-from']);
  });
  await show('/jobs/long?tab=output');
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText('end', { exact: true }).waitFor();
  expect(await output.locator('.row').count()).toBeLessThan(300);
  await page.getByRole('button', { name: 'Start' }).click();
  await output.getByText('begin', { exact: true }).waitFor();
  expect(await output.locator('.row').count()).toBeLessThan(300);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(4_000_000);
});

/** Counts how often a timer of 5 ms fires in the page within 1.5 seconds. */
const countTimers = (page: Page): Promise<number> =>
  page.evaluate(`new Promise((resolve) => {
    let many = 0;
    const end = performance.now() + 1500;
    const turn = () => (performance.now() < end ? (many++, setTimeout(turn, 5)) : resolve(many));
    turn();
  })`);

test('10,000 lines per second do not freeze the page that follows them', async (box) => {
  await box.startWorkers();
  const { page, show } = await openDashboard(box, browser);
  await show('/jobs');
  await page.getByText('No jobs yet').waitFor();
  const before = await countTimers(page);
  const command = 'until test -e stop; do seq 1000000 1000999; sleep 0.1; done; echo over';
  await enqueue(box, 'fast', command);
  await untilState(box, 'fast', 'processing');
  await show('/jobs/fast?tab=output');
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText('1000999', { exact: true }).first().waitFor();
  const meanwhile: number[] = [];
  for (let i = 0; i < 3; i++) {
    meanwhile.push(await countTimers(page));
    expect(await output.locator('.row').count()).toBeLessThan(300);
  }
  // The best value counts, because the machine may have been busy during the others.
  expect(Math.max(...meanwhile)).toBeGreaterThan(before / 3);
  await Bun.write(`${box.directory}/stop`, '');
  await output.getByText('over', { exact: true }).waitFor();
  expect(await output.locator('.row').count()).toBeLessThan(300);
});
