/** Lists the attacks S1 to S25 and the test files that cover each of them. */
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROWS: Record<string, string[] | string> = {
  S1: ['acceptance/attacks'],
  S2: ['acceptance/attacks', 'acceptance/root-and-environment'],
  S3: ['acceptance/attacks'],
  S4: ['acceptance/attacks'],
  S5: 'templates with parameters come with safe execution',
  S6: ['acceptance/attacks'],
  S7: ['acceptance/attacks', 'http/secrets'],
  S8: ['acceptance/attacks', 'acceptance/root-and-environment'],
  S9: ['acceptance/attacks'],
  S10: ['acceptance/attacks'],
  S11: ['acceptance/attacks', 'acceptance/root-and-environment'],
  S12: ['acceptance/attacks'],
  S13: ['acceptance/attacks', 'acceptance/terminal-text'],
  S14: ['acceptance/attacks', 'acceptance/terminal-text'],
  S15: ['acceptance/odd-files'],
  S16: ['acceptance/odd-files', 'acceptance/backup-target'],
  S17: 'there is no configuration file: settings are in the store',
  S18: ['acceptance/root-and-environment'],
  S19: ['acceptance/odd-files'],
  S20: ['acceptance/attacks', 'acceptance/backup'],
  S21: 'webhooks come with safe execution',
  S22: 'limits of a job come with safe execution',
  S23: ['acceptance/attacks'],
  S24: ['acceptance/attacks', 'acceptance/root-and-environment'],
  S25: ['acceptance/attacks'],
};

const TESTS = join(import.meta.dirname, '..');
const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.test.ts') && !name.includes('node_modules') && !name.includes('attack-coverage'),
);

for (let n = 1; n <= 25; n++) {
  const where = ROWS[`S${n}`]!;
  test(`S${n} is tested in the listed files${typeof where === 'string' ? `: none yet, ${where}` : ''}`, () => {
    // A test or a row of a table names the attack it covers.
    const named = files.filter((name) =>
      new RegExp(`(['"\`]|test\\(.*)(S\\d+, )*S${n}\\b|^/\\*\\* S${n}:`, 'm').test(
        readFileSync(join(TESTS, name), 'utf8'),
      ),
    );
    const expected = typeof where === 'string' ? [] : where.map((name) => `${name}.test.ts`);
    expect(named.sort()).toEqual(expected.sort());
  });
}
