import { expect, test } from 'bun:test';
import { FILTER_FLAGS } from '../../src/cli/filters.ts';
import { TOPICS } from '../../src/cli/topics.ts';
import { readCron } from '../../src/core/cron.ts';
import { CONDITION_FIELDS } from '../../src/core/filter.ts';

test('every expression in help cron is one', async () => {
  const text = TOPICS.cron!();
  const whole = [...text.matchAll(/^ {2}((?:[^\s@]+ ){4}[^\s@]+) {2,}/gm)].map(
    ([, expression]) => expression!,
  );
  expect(whole.length).toBeGreaterThan(3);
  for (const expression of [...whole, ...text.matchAll(/@\w+/g)]) await readCron(String(expression));
});

test('every filter is in help filters', () => {
  const text = TOPICS.filters!();
  for (const flag of Object.keys(FILTER_FLAGS)) expect(text).toContain(`\n  --${flag} `);
  for (const field of CONDITION_FIELDS) expect(text).toContain(field);
});
