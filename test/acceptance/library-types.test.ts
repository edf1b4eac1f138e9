/** Compiles a program with the types of the built package, under various compiler options. */
import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inTempDir } from '../support/temp-dir.ts';

const ROOT = resolve(import.meta.dir, '../..');

test.each([
  ['for Node', { module: 'nodenext' }],
  ['for a bundler', { module: 'preserve', moduleResolution: 'bundler' }],
  ['with exact optional properties', { module: 'nodenext', exactOptionalPropertyTypes: true }],
  ['for ES2022', { module: 'nodenext', target: 'es2022', lib: ['es2022'] }],
])('a program that uses the library compiles %s', (_, caseOptions) =>
  inTempDir((directory) => {
    const modules = join(directory, 'node_modules');
    mkdirSync(join(modules, '@types'), { recursive: true });
    symlinkSync(ROOT, join(modules, 'queuectl'));
    for (const name of ['@types/node', 'undici-types'])
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
    const program = readFileSync(join(ROOT, 'test/types/library.ts'), 'utf8');
    expect(program).toContain("'../../src/index.ts'");
    writeFileSync(join(directory, 'program.ts'), program.replace('../../src/index.ts', 'queuectl'));
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }));
    const options = { target: 'esnext', strict: true, noEmit: true, types: ['node'] };
    const compilerOptions = { ...options, ...caseOptions };
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const { status, stdout } = spawnSync(tsc, ['--project', directory], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  }),
);

test('the package has declarations only of core, library and its entry point', () => {
  const topLevelNames = readdirSync(join(ROOT, 'dist/types'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => name.split('/')[0]);
  expect([...new Set(topLevelNames)].sort()).toEqual(['core', 'index.d.ts', 'library']);
});
