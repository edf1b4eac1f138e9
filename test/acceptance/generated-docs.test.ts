import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { references } from '../../scripts/reference.ts';

const ROOT = resolve(import.meta.dir, '../..');

test('the generated references in docs/ are up to date (npm run docs)', async () => {
  const pages = await references();
  expect(Object.keys(pages)).toEqual(['docs/commands.md', 'docs/configuration.md']);
  for (const [file, text] of Object.entries(pages))
    expect({ file, text: readFileSync(join(ROOT, file), 'utf8') }).toEqual({ file, text });
});
