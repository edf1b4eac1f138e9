/**
 * Takes pictures of the built executable's dashboard in Chromium, with a small and busy store. Run it after a build:
 *   npx bun scripts/dashboard-screens.ts            the pictures that docs/dashboard.md shows
 *   npx bun scripts/dashboard-screens.ts DIRECTORY [NAME...]  every page and dialog, or those named, dark and light,
 *     wide and on a phone
 */
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { launchBrowser, openDashboard } from '../test/support/browser.ts';
import { enqueue, type Sandbox, sandbox, untilState } from '../test/support/queuectl.ts';

type Theme = 'light' | 'dark';
interface Size {
  width: number;
  height: number;
}

const DOCS_SIZE = { width: 1280, height: 760 };
const PHONE = { width: 390, height: 760 };
const WIDE = { width: 1440, height: 900 };
/** The workers run at least this long before the pictures, so that some jobs complete and fail. */
const BUSY_MS = 20_000;
/** After this time, a page is loaded and drawn. */
const SETTLED_MS = 1200;

const DOCS_PICTURES: [name: string, path: string, theme: Theme, size: Size][] = [
  ['overview', '/', 'dark', DOCS_SIZE],
  ['job', '/jobs/import-photos', 'light', DOCS_SIZE],
  ['output', '/jobs/import-photos?tab=output', 'dark', DOCS_SIZE],
  ['dead-letters', '/dlq', 'light', DOCS_SIZE],
  ['queue', '/queues/mail', 'dark', DOCS_SIZE],
  ['schedule', '/schedules/nightly-backup', 'light', DOCS_SIZE],
  ['phone', '/jobs', 'dark', PHONE],
];

const pagePaths = (worker: string): Record<string, string> => ({
  overview: '/',
  jobs: '/jobs',
  job: '/jobs/import-photos',
  output: '/jobs/import-photos?tab=output',
  spec: '/jobs/import-photos?tab=spec',
  'job-events': '/jobs/import-photos?tab=events',
  'running-job': '/jobs/encode-7',
  dlq: '/dlq',
  queues: '/queues',
  queue: '/queues/mail',
  schedules: '/schedules',
  schedule: '/schedules/nightly-backup',
  workers: '/workers',
  worker: `/workers/${worker}`,
  metrics: '/stats?range=1h',
  'worker-gone': '/workers/gone',
  related: '/jobs/import-photos?tab=related',
  attempts: '/jobs/import-photos?tab=attempts',
  waiting: '/jobs/report-q4',
  'no-match': '/jobs?search=nothing-like-it',
  'no-page': '/nonsense',
  'no-job': '/jobs/nobody',
  activity: '/activity',
  settings: '/settings',
  doctor: '/doctor',
});

type Steps = (page: Page) => Promise<unknown>;
const press =
  (...keys: string[]): Steps =>
  async (page) => {
    for (const key of keys) await page.keyboard.press(key);
  };
const click =
  (name: string): Steps =>
  (page) =>
    page.getByRole('button', { name, exact: true }).first().click();
const openMenu =
  (menu: string): Steps =>
  (page) =>
    page.locator('summary', { hasText: menu }).first().click();

/** Scrolls to the middle of a list, so that its header sticks, and moves to a row there. */
const scrollAndFocus: Steps = async (page) => {
  await press(...Array.from({ length: 25 }, () => 'j'))(page);
};

const DIALOGS: [name: string, path: string, steps: Steps][] = [
  ['palette', '/', press('Control+k')],
  ['shortcuts', '/', press('?')],
  ['new-job', '/', press('n')],
  ['edit-job', '/jobs/report-q4', press('e')],
  ['cancel-job', '/jobs/encode-7', press('c')],
  ['delete-jobs', '/jobs', press('a', '#')],
  ['selection', '/jobs', press('j', 'x')],
  ['scrolled', '/jobs', scrollAndFocus],
  ['columns', '/jobs', openMenu('Columns')],
  ['views', '/jobs', openMenu('Views')],
  ['copy', '/jobs', openMenu('Copy')],
  ['retry-group', '/dlq', click('Retry all')],
  ['group-menu', '/dlq', openMenu('More')],
  ['limits', '/queues/mail', click('Limits')],
  ['new-schedule', '/schedules', click('New schedule')],
  ['edit-schedule', '/schedules/pulse', click('Edit')],
  ['remove-schedule', '/schedules/pulse', click('Remove')],
  ['stop-worker', '/workers', click('Stop')],
];

const IMPORT_COMMAND = String.raw`for i in $(seq 1 240); do printf '\033[32mok\033[0m  copied \033[36m/srv/photos/%04d.jpg\033[0m\n' $i; done
printf '\033[33mwarn\033[0m slow disk, 3 retries\n'; printf '\033[31mERROR\033[0m no space left on device\n'; exit 28`;

/** Adds queues (one of them paused), schedules, workers, and jobs with different results. */
async function fillStore(box: Sandbox): Promise<void> {
  await box.json(['config', 'set', 'backoff-base', '2']);
  await box.json(['config', 'set', 'keep-completed', '30d']);
  await box.json(['queue', 'set', 'mail', '--concurrency', '4', '--rate', '20/s']);
  for (const args of [
    ['nightly-backup', '--cron', '30 2 * * *', '--tz', 'Europe/Berlin', '--cwd', '/srv/app', 'make backup'],
    [
      'weekly-report',
      '--cron',
      '0 9 * * mon',
      '--tz',
      'America/New_York',
      '--overlap',
      'queue',
      'make report',
    ],
    [
      'pulse',
      '--every',
      '5s',
      'echo tick; test $(( $(date +%s) % 3 )) -ne 0',
      '--queue',
      'web',
      '--max-retries',
      '1',
    ],
  ])
    await box.json(['schedule', 'add', ...args]);
  await box.json(['schedule', 'pause', 'weekly-report']);
  for (let i = 1; i <= 60; i++) {
    await enqueue(box, `mail-${1000 + i}`, `send-mail --to ${i}@example.org || sleep 0.${i}`, {
      ...{
        queue: 'mail',
        name: i % 4 === 0 ? 'newsletter' : 'send-mail',
        tags: { customer: String(40 + i) },
      },
    });
  }
  for (let i = 1; i <= 4; i++) {
    await enqueue(box, `sync-${i}`, `echo could not connect to 10.0.0.${i}:5432 >&2; exit 7`, {
      ...{ name: 'sync-crm', max_retries: 1, queue: 'web' },
    });
  }
  for (let i = 1; i <= 7; i++) await enqueue(box, `invoice-${i}`, `make invoice-${i}`, { queue: 'billing' });
  await box.json(['queue', 'pause', 'billing']);
  await enqueue(box, 'import-photos', IMPORT_COMMAND, { name: 'import', max_retries: 3, queue: 'media' });
  await enqueue(box, 'encode-7', 'while :; do echo frame; sleep 1; done', { name: 'encode', queue: 'media' });
  await box.startWorkers('--count', '2', '--concurrency', '4');
  await box.startWorkers('--queue', 'web,mail');
  await untilState(box, 'import-photos', 'dead');
  await enqueue(box, 'report-q4', 'make report', { name: 'report', delay: 7200, priority: 5 });
}

const [target, ...wanted] = process.argv.slice(2);
const isWanted = ([name]: [string, ...unknown[]]): boolean => wanted.length === 0 || wanted.includes(name);
const box = sandbox();
const browser = await launchBrowser();
try {
  await fillStore(box);
  const { page, show } = await openDashboard(box, browser);
  await page.waitForTimeout(BUSY_MS);
  const takePicture = async (
    file: string,
    path: string,
    theme: Theme,
    size: Size,
    fullPage: boolean,
    steps?: Steps,
  ): Promise<void> => {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: theme });
    await show(path);
    await page.locator('main section, main .empty').first().waitFor();
    await page.waitForTimeout(SETTLED_MS);
    await steps?.(page);
    if (steps !== undefined) await page.waitForTimeout(SETTLED_MS / 2);
    await page.screenshot({ path: file, fullPage });
  };
  if (target === undefined) {
    for (const [name, path, theme, size] of DOCS_PICTURES)
      await takePicture(`docs/dashboard/${name}.png`, path, theme, size, false);
  } else {
    mkdirSync(target, { recursive: true });
    const [worker] = await box.json<{ id: string }[]>(['worker', 'list']);
    for (const [name, path] of Object.entries(pagePaths(worker!.id)).filter(isWanted))
      for (const theme of ['dark', 'light'] as const)
        for (const size of [WIDE, PHONE])
          await takePicture(`${target}/${name}-${theme}-${size.width}.png`, path, theme, size, true);
    for (const [name, path, steps] of DIALOGS.filter(isWanted))
      for (const [theme, size] of [
        ['dark', WIDE],
        ['light', PHONE],
      ] as const)
        await takePicture(`${target}/${name}-${theme}-${size.width}.png`, path, theme, size, false, steps);
    await page.setViewportSize(WIDE);
    await show('/');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.locator('.login-page').waitFor();
    await page.screenshot({ path: `${target}/login.png` });
  }
} finally {
  await browser.close();
  await box.cleanup();
}
