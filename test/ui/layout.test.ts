import { afterAll, expect, test as plainTest } from 'bun:test';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { ASSETS } from '../../src/http/assets.generated.ts';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue, type Sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

const AXE = readFileSync(new URL(import.meta.resolve('axe-core')), 'utf8');
/** The first load must have less than this many bytes, compressed. */
const FIRST_LOAD_LIMIT = 60_000;

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Pages with a text or a selector that shows that they are loaded. */
const PAGES: [path: string, sign: string][] = [
  ['/', 'Running now'],
  ['/jobs', '[data-row]'],
  ['/jobs?search=nothing-like-it', 'No jobs match'],
  ['/jobs/dead-one', '.steps'],
  ['/jobs/dead-one?tab=output', '.row'],
  ['/jobs/dead-one?tab=spec', 'Working directory'],
  ['/jobs/dead-one?tab=events', 'enqueued'],
  ['/jobs/dead-one?tab=json', 'max_retries'],
  ['/dlq', '[data-row]'],
  ['/jobs/dead-one?tab=attempts', 'Exit code 3'],
  ['/queues', '[data-row]'],
  ['/schedules', 'nightly'],
  ['/workers', 'No workers are running'],
  ['/queues/mail', 'Busiest job names'],
  ['/schedules/nightly', 'every day at 02:30'],
  ['/workers/gone', 'is no longer running'],
  ['/stats', 'Slowest job names'],
  ['/doctor', 'stuck jobs'],
  ['/activity', 'enqueued'],
  ['/settings', 'max-retries'],
];

const DIALOGS: [key: string, title: string][] = [
  ['?', 'Keyboard shortcuts'],
  ['Control+k', 'Jump to'],
  ['n', 'New job'],
  ['', 'New schedule'],
];

async function openScheduleForm(page: Page, show: (path: string) => Promise<void>): Promise<void> {
  await show('/schedules');
  await page.getByRole('button', { name: 'New schedule' }).click();
  await page.getByText('every day at 03:00').waitFor();
}

/** Adds jobs, a paused queue and a schedule, so that most pages show something. */
async function fill(box: Sandbox): Promise<void> {
  const command = 'printf "\\033[31mred \\033[32mgreen \\033[33;1mbold\\033[0m plain\\n"; exit 3';
  await enqueue(box, 'dead-one', command, { max_retries: 1, tags: { k: 'v' }, name: 'import' });
  await enqueue(box, 'good', 'true');
  await box.run(['worker', 'start', '--drain']);
  await enqueue(box, 'waits', 'true', { queue: 'mail' });
  await box.run(['queue', 'pause', 'mail']);
  await box.run(['schedule', 'add', 'nightly', '--cron', '30 2 * * *', 'make backup']);
}

function findSign(page: Page, sign: string): Locator {
  const place = page.locator('main');
  const isSelector = /^[[.a]/.test(sign) && !sign.includes(' ');
  return (isSelector ? place.locator(sign) : place.getByText(sign)).first();
}

async function seriousProblems(page: Page, where: string): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    'axe.run({ resultTypes: ["violations"] })',
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${where}: ${id}: ${nodes[0]!.html}: ${nodes[0]!.failureSummary}`);
}

for (const theme of ['light', 'dark'] as const) {
  // The pages are split into two tests, because one test of all pages would take too long.
  for (const [part, pages] of [PAGES.slice(0, 9), PAGES.slice(9)].entries()) {
    test(`axe finds no serious problem on any page in the ${theme} theme (part ${part + 1} of 2)`, async (box) => {
      await fill(box);
      const { page, show } = await openDashboard(box, browser);
      await page.emulateMedia({ colorScheme: theme });
      const problems: string[] = [];
      for (const [path, sign] of pages) {
        await show(path);
        await findSign(page, sign).waitFor();
        problems.push(...(await seriousProblems(page, path)));
      }
      if (part === 0) await show('/jobs');
      for (const menu of part === 0 ? ['Views', 'Columns', 'Copy'] : []) {
        await page.locator('summary', { hasText: menu }).click();
        problems.push(...(await seriousProblems(page, menu)));
        await page.keyboard.press('Escape');
      }
      for (const [key, dialog] of part === 0 ? [] : DIALOGS) {
        if (dialog === 'New schedule') await openScheduleForm(page, show);
        else await page.keyboard.press(key);
        await page.getByRole('dialog', { name: dialog }).waitFor();
        problems.push(...(await seriousProblems(page, dialog)));
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      expect(problems).toEqual([]);
    });
  }
}

plainTest(
  'the first load is small, and every file but the document has a hash of its content in its name',
  () => {
    const zipped = (name: string): number => gzipSync(ASSETS[name]!.body).length;
    const first = Object.keys(ASSETS).filter((name) => ASSETS['/index.html']!.body.includes(name));
    expect(first.length).toBe(3);
    expect(['/index.html', ...first].reduce((sum, name) => sum + zipped(name), 0)).toBeLessThan(
      FIRST_LOAD_LIMIT,
    );
    const others = Object.entries(ASSETS).filter(([name]) => name !== '/index.html');
    expect(others.every(([name, { hashed }]) => hashed && /-[\w-]{8}\.(js|css|svg|json)$/.test(name))).toBe(
      true,
    );
    // The first files load no others, so the page appears without waiting for more.
    expect(first.some((name) => /(from|import)\s*"\/assets\//.test(ASSETS[name]!.body))).toBe(false);
    // Charts and most pages are loaded when they are shown.
    expect(others.some(([name]) => name.includes('operations') && !first.includes(name))).toBe(true);
    expect(others.some(([name]) => name.includes('uPlot') && !first.includes(name))).toBe(true);
  },
);

/** Sums up the layout shifts that no input caused, as the browser measures them. */
const SUM_SHIFTS = `window.shifted = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: 'layout-shift', buffered: true })`;
const MAX_SHIFT = 0.1;

for (const [width, height] of [
  [1280, 720],
  [2560, 1440],
] as const) {
  test(`the layout of a window of ${width} pixels shifts by at most 0.1 while a page loads`, async (box) => {
    await fill(box);
    for (const queue of ['images', 'a-queue-with-a-name-that-is-longer-than-most'])
      await enqueue(box, queue, 'true', { queue });
    const { page, show } = await openDashboard(box, browser);
    await page.setViewportSize({ width, height });
    await page.addInitScript(SUM_SHIFTS);
    const jumped: [string, number][] = [];
    for (const [path, sign] of PAGES) {
      await show(path);
      await findSign(page, sign).waitFor();
      const charts = 'document.querySelectorAll("figure.chart").length';
      const drawn = 'document.querySelectorAll(".plot canvas").length';
      await until(() => page.evaluate<boolean>(`${charts} === ${drawn}`), 'every chart is drawn');
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      const shifted = await page.evaluate<number>('window.shifted');
      if (shifted > MAX_SHIFT) jumped.push([path, shifted]);
    }
    expect(jumped).toEqual([]);
  });
}

test('all column titles of the jobs are visible on a phone', async (box) => {
  await fill(box);
  const { page, show } = await openDashboard(box, browser);
  await page.setViewportSize({ width: 390, height: 844 });
  await show('/jobs');
  await page.locator('[data-row]').first().waitFor();
  const right = await page.evaluate<number>(
    'Math.max(...[...document.querySelectorAll("thead th")].map((th) => th.getBoundingClientRect().right))',
  );
  expect(right).toBeLessThanOrEqual(380);
});

test('the main pages are not wider than a phone', async (box) => {
  await enqueue(box, 'dead-one', `echo ${'long'.repeat(80)}`, { tags: { k: 'v'.repeat(60) } });
  await box.run([
    'schedule',
    'add',
    'dead-one',
    '--cron',
    '*/7 9-17 * * mon-fri',
    `echo ${'long'.repeat(80)}`,
  ]);
  const { page, show } = await openDashboard(box, browser);
  await page.setViewportSize({ width: 360, height: 740 });
  for (const path of [
    '/',
    '/jobs',
    '/jobs/dead-one',
    '/jobs/dead-one?tab=spec',
    '/queues',
    '/queues/default',
    '/schedules/dead-one',
    '/stats',
    '/doctor',
    '/settings',
    '/activity',
  ]) {
    await show(path);
    await page
      .locator('main')
      .getByText(/dead-one|default|max-retries|stuck jobs/i)
      .first()
      .waitFor({ state: 'attached' });
    expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 360]);
  }
});
