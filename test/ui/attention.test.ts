import { afterAll, expect } from 'bun:test';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { startGatedJob } from '../support/gated-job.ts';
import { enqueue } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

test('the overview warns of due jobs that no worker takes, and not of jobs that are held, blocked or not due', async (box) => {
  await enqueue(box, 'next-year', 'true', { delay: 31_536_000 });
  await enqueue(box, 'held', 'true');
  await box.json(['hold', 'held']);
  await enqueue(box, 'blocked', 'true', { depends_on: ['next-year'] });
  await enqueue(box, 'asleep', 'true', { queue: 'shut', delay: 3600 });
  await box.json(['queue', 'pause', 'shut']);
  const { page, show } = await openDashboard(box, browser);
  await show('/');
  await page.getByRole('heading', { name: 'Running now' }).waitFor();
  const attention = page.getByRole('list', { name: 'Needs attention' });
  expect(await attention.getByText(/waiting/).allTextContents()).toEqual([]);

  await enqueue(box, 'due', 'true');
  await attention.getByText('1 job is waiting, but no worker is running').waitFor();
  await enqueue(box, 'paused', 'true', { queue: 'shut' });
  await attention.getByText('Queue shut is paused. 1 job is waiting.').waitFor();
  expect(await attention.getByText(/waiting/).count()).toBe(2);
});

test('a worker that is stopping serves no queue', async (box) => {
  await box.startWorkers();
  const job = await startGatedJob(box, 'runs');
  await box.run(['worker', 'stop', '--timeout', '1s']);
  await enqueue(box, 'due', 'true');
  const { page, show } = await openDashboard(box, browser);
  await show('/');
  const attention = page.getByRole('list', { name: 'Needs attention' });
  await attention.getByText('1 job is waiting, but all workers are stopping').waitFor();
  await show('/queues/default');
  await page.getByText('No worker serves this queue').waitFor();
  job.release();
});
