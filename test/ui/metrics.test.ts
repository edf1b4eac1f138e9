import { afterAll, expect } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { duration } from '../../ui/parts/format.ts';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { serve } from '../support/http.ts';
import { jobSpec } from '../support/jobs.ts';
import { enqueue, until } from '../support/queuectl.ts';
import { seededRandom } from '../support/random.ts';
import { DISTRIBUTIONS, deviations, type Percentiles, storeAttempts } from '../support/samples.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

const MINUTE_MS = 60_000;

/** Opens the table of a chart and returns its rows, newest first. */
async function rowsOf(page: Page, title: string): Promise<string[][]> {
  const chart = page.locator('figure', { has: page.getByRole('heading', { name: title, exact: true }) });
  await chart.getByText('Show as table').click();
  await chart.locator('tbody tr').first().waitFor();
  return chart
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent ?? '')),
    );
}

test('job names are shown with the percentiles of queuectl stats, and those of run times are within 5% of the real ones', async (box) => {
  mkdirSync(box.home);
  const random = seededRandom('dashboard');
  const samples = new Map<string, number[]>();
  for (const [shape, make] of Object.entries(DISTRIBUTIONS)) {
    samples.set(shape, make(random, 2000));
    await storeAttempts(join(box.home, 'queue.db'), shape, samples.get(shape)!);
  }
  const { names } = await box.json<{
    names: { name: string; wait_ms: Percentiles; run_ms: Percentiles }[];
  }>(['stats', '--range', '24h']);
  const { page, show, violations } = await openDashboard(box, browser);
  await show('/stats?range=24h');
  for (const { name, wait_ms, run_ms } of names) {
    expect([name, deviations(run_ms, samples.get(name)!)]).toEqual([name, []]);
    const row = page.locator('tr', { hasText: name });
    await row.waitFor();
    const cells = await row.locator('td').allTextContents();
    expect([name, ...cells.slice(-4)]).toEqual([
      ...[name, duration(wait_ms.p95), duration(run_ms.p50), duration(run_ms.p95), duration(run_ms.p99)],
    ]);
  }
  expect(violations).toEqual([]);
});

test('charts begin where data begins, and the oldest waiting job is drawn as it was at each time', async (box) => {
  mkdirSync(box.home);
  const { store } = await openSqlite(join(box.home, 'queue.db'));
  await store.insert([jobSpec('stuck', { queue: 'stalled' })], Date.now() - 30 * MINUTE_MS);
  await store.close();
  const { page, show, violations } = await openDashboard(box, browser);
  await show('/stats?range=1h');
  const waits = await rowsOf(page, 'Wait time');
  expect([32, 33]).toContain(waits.length);
  const oldest = waits.map((row) => row.at(-1)!);
  expect(oldest[0]).toMatch(/^30m/);
  expect(oldest[10]).toMatch(/^(19|20)m/);
  expect(oldest.at(-1)).toBe('–');
  await show('/stats?range=90d');
  expect((await rowsOf(page, 'Throughput')).length).toBe(5);
  await show('/queues/stalled?range=1h');
  expect((await rowsOf(page, 'Wait time')).length).toBe(waits.length);
  expect(violations).toEqual([]);
});

test('charts are drawn in a browser whose language is no valid locale', async (box) => {
  await enqueue(box, 'a', 'true', { name: 'n' });
  await box.run(['worker', 'start', '--drain', '--quiet']);
  await box.run(['schedule', 'add', 's', '--every', '1h', 'true']);
  const { pageHost, token } = await serve(box);
  const posix = await launchBrowser({ LANG: 'C', LC_ALL: 'C', LANGUAGE: '' });
  try {
    const page = await (await posix.newContext()).newPage();
    expect(await page.evaluate(() => navigator.language)).toBe('en-US@posix');
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(`http://${pageHost}/#token=${token}`);
    await page.locator('.frame').waitFor();
    for (const [path, charts] of [
      ['/stats', 5],
      ['/queues/default', 3],
      ['/schedules/s', 2],
      ['/', 1],
    ] as const) {
      await page.goto(`http://${pageHost}${path}`);
      await until(
        async () => (await page.locator('.plot canvas').count()) === charts,
        `the charts of ${path} are drawn`,
      );
    }
    expect(errors).toEqual([]);
  } finally {
    await posix.close();
  }
});
