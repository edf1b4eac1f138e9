/** Lists the attacks and the test files that cover each of them. */
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The name of each attack with the files that test it, or the reason why there is no test. */
const ATTACKS: Record<string, [attack: string, filesOrReason: string[] | string]> = {
  S1: ['hostile ids', ['acceptance/attacks']],
  S2: ['hostile queue names and tags', ['acceptance/attacks', 'acceptance/root-and-environment']],
  S3: ['unusable commands', ['acceptance/attacks']],
  S4: ['shell syntax in arguments', ['acceptance/attacks']],
  S5: ['shell syntax in template parameters', 'queuectl has no templates with parameters'],
  S6: ['dangerous variables', ['acceptance/attacks']],
  S7: ['secrets in jobs', ['acceptance/attacks', 'http/secrets']],
  S8: ['unusable directories', ['acceptance/attacks', 'acceptance/root-and-environment']],
  S9: ['numbers out of range', ['acceptance/attacks']],
  S10: ['expensive expressions', ['acceptance/attacks']],
  S11: ['hostile JSON', ['acceptance/attacks', 'acceptance/root-and-environment']],
  S12: ['SQL injection', ['acceptance/attacks']],
  S13: [
    'terminal escapes in text',
    ['acceptance/attacks', 'acceptance/terminal-text', 'security/hostile-output'],
  ],
  S14: ['terminal escapes in data', ['acceptance/attacks', 'acceptance/terminal-text']],
  S15: ['links in place of output files', ['acceptance/odd-files']],
  S16: ['files that others can write', ['acceptance/odd-files', 'acceptance/backup-target']],
  S17: ['a hostile configuration file', 'settings are in the store'],
  S18: ['workers that run as root', ['acceptance/root-and-environment']],
  S19: ['files of another user', ['acceptance/odd-files']],
  S20: ['hostile backups and imports', ['acceptance/attacks', 'acceptance/backup']],
  S21: ['hostile webhooks', 'queuectl has no webhooks'],
  S22: ['jobs that use up resources', 'queuectl does not limit the resources of a job'],
  S23: ['output that looks like commands', ['acceptance/attacks']],
  S24: ['inherited descriptors and variables', ['acceptance/attacks', 'acceptance/root-and-environment']],
  S25: ['tokens in arguments', ['acceptance/attacks']],
};

const TEST_ROOT = join(import.meta.dirname, '..');
const testFiles = readdirSync(TEST_ROOT, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.test.ts') && !name.includes('node_modules') && !name.includes('attack-coverage'),
);

for (let n = 1; n <= 25; n++) {
  const [attack, filesOrReason] = ATTACKS[`S${n}`]!;
  const isTested = typeof filesOrReason !== 'string';
  const claim = isTested ? 'is tested in exactly the listed files' : `has no test: ${filesOrReason}`;
  test(`S${n} (${attack}) ${claim}`, () => {
    // The title of a test or a row of a table starts with the numbers of the attacks that it covers.
    const actual = testFiles.filter((name) =>
      new RegExp(`(['"\`]|test\\(.*)(S\\d+, )*S${n}\\b`, 'm').test(
        readFileSync(join(TEST_ROOT, name), 'utf8'),
      ),
    );
    const expected = isTested ? filesOrReason.map((name) => `${name}.test.ts`) : [];
    expect(actual.sort()).toEqual(expected.sort());
  });
}
