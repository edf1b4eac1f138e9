import { afterAll, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { launchBrowser, openDashboard } from '../support/browser.ts';
import { enqueue, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const browser = await launchBrowser();
afterAll(() => browser.close());

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

test('jobs can be listed, selected, cancelled, opened and retried without a mouse, and Escape closes the form for a new job', async (box) => {
  for (const id of ['a', 'b', 'c']) await enqueue(box, id, `echo ${id}`);
  const { page } = await openDashboard(box, browser);
  await page.getByText('Waiting', { exact: true }).waitFor();
  await press(page, 'g', 'j');
  await page.locator('[data-row="a"]').waitFor();
  // The newest job is the first row. A range is selected and cleared.
  await press(page, 'j', 'x', 'j', 'j', 'Shift+X');
  await page.getByText('3 selected').waitFor();
  await press(page, 'Escape');
  await page.getByText('3 selected').waitFor({ state: 'detached' });
  await press(page, 'k', 'x', 'j', 'x');
  await page.getByText('2 selected').waitFor();
  await press(page, 'c');
  await page.getByRole('heading', { name: 'Cancel 2 jobs?' }).waitFor();
  // The safe button has the focus, so that pressing Enter too soon changes nothing.
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Go back');
  await press(page, 'Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel 2 jobs');
  await press(page, 'Enter');
  await page.getByText('2 jobs cancelled').waitFor();
  await untilState(box, 'a', 'cancelled');
  await untilState(box, 'c', 'pending');
  await page.locator('[data-row="a"] .state-cancelled').waitFor();
  await press(page, 'Escape', 'j', 'j', 'j', 'Enter');
  await page.getByRole('heading', { name: 'a', exact: true }).waitFor();
  await press(page, 'r');
  await untilState(box, 'a', 'pending');
  await press(page, 'n');
  await page.getByLabel('Command', { exact: true }).waitFor();
  await page.keyboard.type('echo typed');
  await press(page, 'Enter', 'Escape');
  await page.getByLabel('Command', { exact: true }).waitFor({ state: 'detached' });
  expect(await box.json<unknown[]>(['list'])).toHaveLength(3);
});

test('the palette finds jobs and actions, ? shows the keys until Escape, and keys change the theme and resume a queue', async (box) => {
  await enqueue(box, 'needle', 'echo hay', { queue: 'mail' });
  const { page } = await openDashboard(box, browser);
  await page.getByText('Waiting', { exact: true }).waitFor();
  await press(page, 'Control+k');
  await page.keyboard.type('needle');
  await page.getByRole('option', { name: /needle/ }).waitFor();
  await press(page, 'Enter');
  await page.getByRole('heading', { name: 'needle' }).waitFor();
  await press(page, 'Control+k');
  await page.keyboard.type('pause queue mail');
  await page.getByRole('option', { name: 'Pause queue mail' }).waitFor();
  await press(page, 'Enter');
  await page.getByText('Queue mail paused').waitFor();
  await press(page, '?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await press(page, 'Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await press(page, 't');
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('light');
  await press(page, 'g', 'q');
  await page.locator('[data-row="mail"]').waitFor();
  await press(page, 'j', 'p');
  await page.locator('[data-row="mail"]').getByRole('button', { name: 'Pause' }).waitFor();
});

test('arrows move between rows, Space selects the focused row, and Enter opens it from its link or its checkbox', async (box) => {
  for (const id of ['a', 'b', 'c']) await enqueue(box, id, 'true');
  const { page, show, violations } = await openDashboard(box, browser);
  await show('/jobs');
  const row = (id: string) => page.locator(`[data-row="${id}"]`);
  await row('a').waitFor();
  const focused = () => page.evaluate<string>('document.activeElement.closest("[data-row]")?.dataset.row');
  // Without a focused row, an arrow scrolls the page.
  await press(page, 'ArrowDown');
  expect(await focused()).toBeUndefined();
  await press(page, 'j', 'ArrowDown', 'ArrowDown', 'ArrowUp');
  expect(await focused()).toBe('b');
  expect(await page.evaluate('document.activeElement.tagName')).toBe('A');
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  await press(page, 'Space');
  await page.getByText('1 selected').waitFor();
  expect(await row('b').getByRole('checkbox').isChecked()).toBe(true);
  await press(page, 'Space');
  await page.getByText('1 selected').waitFor({ state: 'detached' });
  await press(page, 'Enter');
  await page.getByRole('heading', { name: 'b', exact: true }).waitFor();

  await page.goBack();
  await row('c').getByRole('checkbox').focus();
  await press(page, 'Space');
  expect(await row('c').getByRole('checkbox').isChecked()).toBe(true);
  await press(page, 'Enter');
  await page.getByRole('heading', { name: 'c', exact: true }).waitFor();

  // In other lists, too, Enter opens the focused row.
  await show('/queues');
  await page.locator('[data-row="default"]').waitFor();
  await press(page, 'j', 'Enter');
  await page.getByRole('heading', { name: 'default', exact: true }).waitFor();
  expect(violations).toEqual([]);
});
