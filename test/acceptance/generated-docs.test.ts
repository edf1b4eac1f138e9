import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { references } from '../../scripts/reference.ts';

const ROOT = resolve(import.meta.dir, '../..');

test('the generated references in docs/ are up to date (npm run docs)', async () => {
  const pages = await references();
  expect(Object.keys(pages)).toEqual(['docs/commands.md', 'docs/configuration.md', 'docs/scripts.md']);
  for (const [file, text] of Object.entries(pages))
    expect({ file, text: readFileSync(join(ROOT, file), 'utf8') }).toEqual({ file, text });
});

test('documents and texts spell cancelled like the state', () => {
  const files = ['*.md', '{docs,ui,src}/**/*.{md,ts,tsx}'].flatMap((glob) => [
    ...new Bun.Glob(glob).scanSync(ROOT),
  ]);
  expect(files.length).toBeGreaterThan(500);
  const misspelled = files
    .filter((file) => !file.includes('.generated.'))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        // The other spelling is accepted as an alias, which is named as such.
        .filter(
          (line) =>
            /\bcancel(ed|ing|ation)\b/i.test(line) && !/cancelled.*canceled|canceled.*cancelled/.test(line),
        )
        .map((line) => `${file}: ${line}`),
    );
  expect(misspelled).toEqual([]);
});
