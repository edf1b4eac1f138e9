import { expect, test } from 'bun:test';
import { FILTER_FLAGS } from '../../src/cli/filters.ts';
import { isHeading, type Row } from '../../src/cli/help-page.ts';
import { TOPICS } from '../../src/cli/topics.ts';
import { readCron } from '../../src/core/cron.ts';
import { CONDITION_FIELDS } from '../../src/core/filter.ts';

/** Returns the rows below a heading of a topic. */
function rowsOf(topic: string, heading: string): Row[] {
  const page = TOPICS[topic]!.page();
  const at = page.findIndex((block) => isHeading(block) && block.heading === heading);
  return page.slice(at + 1).find((block) => Array.isArray(block))!;
}

test('every example and every shorthand in `queuectl help cron` is valid', async () => {
  const examples = rowsOf('cron', 'Examples').map(([expression]) => expression);
  const names = rowsOf('cron', 'Syntax').flatMap(([term]) => term.match(/@\w+/g) ?? []);
  expect(examples.length).toBeGreaterThan(3);
  expect(names.length).toBeGreaterThan(3);
  for (const expression of [...examples, ...names]) await readCron(expression);
});

test('`queuectl help filters` lists every filter, and every field of --where', () => {
  const rows = rowsOf('filters', 'Filters');
  const filterNames = rows.map(([term]) => term.split(' ')[0]!.slice(2));
  expect(filterNames.sort()).toEqual(Object.keys(FILTER_FLAGS).sort());
  for (const field of CONDITION_FIELDS) expect(JSON.stringify(rows)).toContain(field);
});
