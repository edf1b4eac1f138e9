/**
 * Collects the licences of everything that is built into dist/queuectl in src/cli/licenses.generated.ts. Git ignores
 * that file. Every build and check first creates it from what the bundler really includes.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TARGET = 'src/cli/licenses.generated.ts';

interface Notice {
  name: string;
  version: string;
  license: string;
  text: string;
}

/** The entry points of the program, the library and the dashboard. */
const ENTRIES = [
  { entrypoints: ['src/cli/main.ts', 'src/index.ts'], target: 'node' },
  { entrypoints: ['ui/main.tsx'], target: 'browser' },
] as const;

/** Returns the npm packages that the bundles include at least partly. */
export async function bundledPackages(): Promise<string[]> {
  const found = new Set<string>();
  for (const { entrypoints, target } of ENTRIES) {
    const { metafile } = await Bun.build({
      ...{ entrypoints: [...entrypoints], target, splitting: true, metafile: true },
      define: { GRAFANA: '""' },
    });
    for (const path of Object.keys(metafile!.inputs)) {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
      if (name !== undefined) found.add(name);
    }
  }
  return [...found].sort();
}

function noticeOf(name: string): Notice {
  const directory = join('node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  return { name, version, license, text: licenceText(name, directory).trim() };
}

/** Returns the text of the licence file, or else of the licence section of the README. */
function licenceText(name: string, directory: string): string {
  const names = readdirSync(directory);
  const file = names.find((one) => /^(licen[cs]e|copying|notice)(\.|$)/i.test(one));
  if (file !== undefined) return readFileSync(join(directory, file), 'utf8');
  const readme = names.find((one) => /^readme(\.|$)/i.test(one));
  const section =
    readme && /^## licen[cs]e\n(.*)/ims.exec(readFileSync(join(directory, readme), 'utf8'))?.[1];
  if (!section || !/copyright/i.test(section)) throw new Error(`${name} has no text of its licence`);
  return section;
}

/** Returns the notice of the runtime and of the libraries linked into it, from its documentation. */
function runtimeNotice(): Notice {
  const { version } = JSON.parse(readFileSync('node_modules/bun/package.json', 'utf8'));
  const types = JSON.parse(readFileSync('node_modules/bun-types/package.json', 'utf8'));
  if (types.version !== version) throw new Error(`bun is ${version}, but bun-types is ${types.version}`);
  const page = readFileSync('node_modules/bun-types/docs/project/license.mdx', 'utf8');
  const text = page
    .replace(/^---\n.*?\n---\n/s, '')
    .replace(/^\|.*\|$/gm, (row) =>
      row
        .split('|')
        .map((cell) => cell.trim())
        .join(' | ')
        .trim(),
    )
    .replace(/^\|( -+ \|)+\n/gm, '')
    .trim();
  return { name: 'bun', version, license: 'MIT, with libraries under other licences', text };
}

if (import.meta.main) {
  const write = (notices: Notice[]): void =>
    writeFileSync(
      TARGET,
      `/** Made by scripts/licenses.ts from node_modules/. */\nexport const NOTICES: { name: string; version: string; license: string; text: string }[] = ${JSON.stringify(notices, null, 2)};\n`,
    );
  // The program imports this file, so it must exist before the bundler reads the program.
  if (!existsSync(TARGET)) write([]);
  write([runtimeNotice(), ...(await bundledPackages()).map(noticeOf)]);
}
