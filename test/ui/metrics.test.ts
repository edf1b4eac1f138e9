import { expect, test } from 'bun:test';
import { launch } from '../support/browser.ts';
import { serve } from '../support/http.ts';
import { enqueue, inSandbox, until } from '../support/queuectl.ts';

test(
  'charts are drawn in a browser whose language is no valid locale',
  inSandbox(async (box) => {
    await enqueue(box, 'a', 'true', { name: 'n' });
    await box.run(['worker', 'start', '--drain', '--quiet']);
    await box.run(['schedule', 'add', 's', '--every', '1h', 'true']);
    const { port, token } = await serve(box);
    const posix = await launch({ LANG: 'C', LC_ALL: 'C', LANGUAGE: '' });
    try {
      const page = await (await posix.newContext()).newPage();
      expect(await page.evaluate(() => navigator.language)).toBe('en-US@posix');
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      await page.goto(`http://127.0.0.1:${port}/#token=${token}`);
      await page.locator('.frame').waitFor();
      for (const [path, charts] of [
        ['/stats', 5],
        ['/queues/default', 3],
        ['/schedules/s', 2],
        ['/', 1],
      ] as const) {
        await page.goto(`http://127.0.0.1:${port}${path}`);
        await until(
          async () => (await page.locator('.plot canvas').count()) === charts,
          `the charts of ${path} are drawn`,
        );
      }
      expect(errors).toEqual([]);
    } finally {
      await posix.close();
    }
  }),
);
