/**
 * Writes the pictures of docs/dashboard/: the built executable's dashboard in Chromium, on a small store that is busy.
 * Run it after a build: npx bun scripts/dashboard-screens.ts
 */
import { mkdirSync } from 'node:fs';
import { launch, openDashboard } from '../test/support/browser.ts';
import { enqueue, sandbox, untilState } from '../test/support/queuectl.ts';

const TARGET = 'docs/dashboard';
const WIDE = { width: 1280, height: 760 };
const PHONE = { width: 390, height: 760 };
/** Long enough for something to have happened. */
const LIVELY_MS = 20_000;

const IMPORT = String.raw`for i in $(seq 1 240); do printf '\033[32mok\033[0m  copied \033[36m/srv/photos/%04d.jpg\033[0m\n' $i; done
printf '\033[33mwarn\033[0m slow disk, 3 retries\n'; printf '\033[31mERROR\033[0m no space left on device\n'; exit 28`;

const box = sandbox();
const browser = await launch();
try {
  await box.json(['config', 'set', 'backoff-base', '2']);
  await box.json(['queue', 'set', 'mail', '--concurrency', '4', '--rate', '20/s']);
  await box.json(['schedule', 'add', 'nightly-backup', '--cron', '30 2 * * *', 'make backup']);
  await box.json(['schedule', 'add', 'pulse', '--every', '5s', 'echo tick', '--queue', 'web']);
  for (let i = 1; i <= 9; i++) {
    await enqueue(box, `mail-${1000 + i}`, `send-mail --to ${i}@example.org || sleep 0.${i}`, {
      ...{ queue: 'mail', name: 'send-mail', tags: { customer: String(40 + i) } },
    });
  }
  for (let i = 1; i <= 4; i++) {
    await enqueue(box, `sync-${i}`, `echo could not connect to 10.0.0.${i}:5432 >&2; exit 7`, {
      ...{ name: 'sync-crm', max_retries: 1, queue: 'web' },
    });
  }
  await enqueue(box, 'import-photos', IMPORT, { name: 'import', max_retries: 3, queue: 'media' });
  await enqueue(box, 'encode-7', 'while :; do echo frame; sleep 1; done', { name: 'encode', queue: 'media' });
  await box.startWorkers('--count', '2', '--concurrency', '4');
  await untilState(box, 'import-photos', 'dead');
  const { page, show } = await openDashboard(box, browser);
  await page.waitForTimeout(LIVELY_MS);
  await enqueue(box, 'report-q4', 'make report', { name: 'report', delay: 7200, priority: 5 });

  mkdirSync(TARGET, { recursive: true });
  const take = async (name: string, path: string, theme: 'light' | 'dark', size = WIDE): Promise<void> => {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: theme });
    if (path !== '/') await show(path);
    await page.locator('main section').first().waitFor();
    await page.waitForTimeout(1500);
    await page.screenshot({ path: `${TARGET}/${name}.png` });
  };
  await take('overview', '/', 'dark');
  await take('job', '/jobs/import-photos', 'light');
  await take('output', '/jobs/import-photos?tab=output', 'dark');
  await take('dead-letters', '/dlq', 'light');
  await take('phone', '/jobs', 'dark', PHONE);
} finally {
  await browser.close();
  await box.cleanup();
}
