import { afterAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { inHosts } from '../support/hosts.ts';
import { configure, enqueue, until, untilState } from '../support/queuectl.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

test(
  'the page of a job that runs on another host follows its output, and names the host and the file',
  inHosts(['near', 'far'], async (near, far) => {
    await configure(far, { 'shared-output': '16k' });
    await far.startWorkers();
    const [more, go] = ['more', 'go'].map((name) => join(far.directory, name)) as [string, string];
    const waitFor = (file: string): string => `until test -e ${file}; do sleep 0.05; done`;
    await enqueue(near, 'a', `echo begin; ${waitFor(more)}; seq 1 200000; ${waitFor(go)}; echo end`);
    const { page, show, violations } = await openDashboard(near, browser);
    await show('/jobs/a?tab=output');
    const output = page.getByRole('region', { name: 'Output' });
    await output.getByText('begin', { exact: true }).waitFor();
    await page.getByText('on the host far. Of long output').waitFor();
    writeFileSync(more, '');
    await output.getByText('200000', { exact: true }).waitFor();
    writeFileSync(go, '');
    await output.getByText('end', { exact: true }).waitFor();
    await untilState(near, 'a', 'completed');
    await page.getByRole('button', { name: 'Start' }).click();
    await output.getByText('begin', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'End' }).click();
    await output.getByText('end', { exact: true }).waitFor();
    // Scrolling back from the end loads the beginning, with one mark between them.
    await until(async () => {
      await output.evaluate((box) => {
        box.scrollTop = 0;
      });
      return output.getByText('begin', { exact: true }).isVisible();
    }, 'the beginning is shown');
    await page
      .getByLabel('Search the loaded output')
      .fill('bytes of output dropped here; the output file is');
    await page.getByText('1 of 1', { exact: true }).waitFor();
    await output.getByText(/bytes of output dropped here; the output file is/).waitFor();
    expect(violations).toEqual([]);
  }),
);
