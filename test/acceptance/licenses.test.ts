import { expect } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { sandboxTest as test } from '../support/sandbox-test.ts';

interface Notice {
  name: string;
  version: string;
  license: string;
  text: string;
}

const PACKAGE_NAME = /^((?:@[\w.-]+\/)?[\w.-]+)/;

/** Returns the packages that comments in the bundle name, and those that `src/` and `ui/` import. */
function bundledPackages(): Set<string> {
  const packages = new Set<string>();
  const texts = (directory: string, ending: RegExp): string[] =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => ending.test(name) && !name.includes('generated'))
      .map((name) => readFileSync(`${directory}/${name}`, 'utf8'));
  for (const text of texts('dist/node', /\.js$/))
    for (const [, path] of text.matchAll(/^\/\/ (?:\S*\/)?node_modules\/(\S+)$/gm))
      packages.add(PACKAGE_NAME.exec(path!)![1]!);
  for (const text of [...texts('src', /\.ts$/), ...texts('ui', /\.tsx?$/)])
    for (const [, specifier] of text.matchAll(/(?:from |import\(|import )'([^'.#][^']*)'/g))
      if (!specifier!.startsWith('node:')) packages.add(PACKAGE_NAME.exec(specifier!)![1]!);
  return packages;
}

test('version --licenses prints the license of every package in the executable', async (box) => {
  const { licenses } = await box.json<{ licenses: Notice[] }>(['version', '--licenses']);
  const packages = [...bundledPackages()].sort();
  for (const name of ['hono', '@hono/node-server', 'croner', 'cronstrue', 'preact', 'uplot'])
    expect(packages).toContain(name);
  const licensed = licenses.map(({ name }) => name);
  expect(packages.filter((name) => !licensed.includes(name))).toEqual([]);
  for (const { name, version, license, text } of licenses) {
    const installed = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
    expect({ name, version }).toEqual({ name, version: installed.version });
    expect(license).toStartWith(installed.license);
    if (name !== 'bun') expect(text).toMatch(/copyright/i);
  }
  const runtime = licenses.find(({ name }) => name === 'bun')!.text;
  for (const part of ['JavaScriptCore', 'LGPL', 'boringssl', 'sqlite', 'libicu', 'zstd'])
    expect(runtime).toContain(part);
  const { stdout } = await box.run(['version', '--licenses']);
  for (const { name, version, text } of licenses) {
    expect(stdout).toContain(`${name} ${version}`);
    expect(stdout).toContain(text);
  }
  expect(await box.json(['version'])).not.toHaveProperty('licenses');
});
