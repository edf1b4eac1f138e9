import { expect, test } from 'bun:test';
import { topicPage } from '../../src/cli/help/help.ts';
import type { HelpRow } from '../../src/cli/help/help-page.ts';
import { FILTER_FLAGS } from '../../src/cli/print/job-table.ts';
import { CONDITION_FIELDS } from '../../src/core/jobs/filter.ts';
import { STATES } from '../../src/core/jobs/job.ts';
import { WAITING_REASONS } from '../../src/core/jobs/waiting-reason.ts';
import { readCron } from '../../src/core/schedules/fire-times.ts';

/** Returns the tables on the page of a topic. */
async function tablesOf(topic: string): Promise<HelpRow[][]> {
  return (await topicPage(topic)).filter((block) => Array.isArray(block));
}

test('every example and every shorthand in `queuectl help cron` is valid', async () => {
  const terms = (await tablesOf('cron'))[0]!.map(([expression]) => expression);
  const examples = terms.filter((term) => !term.startsWith('@'));
  const names = terms.flatMap((term) => term.match(/@\w+/g) ?? []);
  expect(examples.length).toBeGreaterThan(3);
  expect(names.length).toBeGreaterThan(3);
  for (const expression of [...examples, ...names]) await readCron(expression);
});

test('`queuectl help filters` lists every filter, and every field of --where', async () => {
  const rows = (await tablesOf('filters'))[0]!;
  const filterNames = rows.map(([term]) => term.split(' ')[0]!.slice(2));
  expect(filterNames.sort()).toEqual(Object.keys(FILTER_FLAGS).sort());
  for (const field of CONDITION_FIELDS) expect(JSON.stringify(rows)).toContain(field);
});

test('`queuectl help filters` lists every state and every reason of --waiting-for', async () => {
  const terms = (await tablesOf('filters')).flat().map(([term]) => term);
  for (const value of [...STATES, ...WAITING_REASONS]) expect(terms).toContain(value);
});
