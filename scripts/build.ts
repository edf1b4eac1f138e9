/** Builds dist/: the executable and its man page, the same program for Node, and the library with its types. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EXECUTABLE_FLAGS } from './executable.ts';
import { manPage } from './man-page.ts';

const bun = process.execPath;

function run(program: string, args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}`);
  process.exit(status ?? 1);
}

run(bun, ['--no-install', 'scripts/ui.ts']);
run(bun, ['--no-install', 'scripts/licenses.ts']);

/** The files are built in this directory and then moved, so that running programs never see a partial build. */
const aside = 'dist/.new';
rmSync(aside, { recursive: true, force: true });
run(bun, ['build', ...EXECUTABLE_FLAGS, 'src/cli/main.ts', '--outfile', `${aside}/queuectl`]);
// The executable contains the source maps.
for (const name of readdirSync(aside)) if (name.endsWith('.map')) rmSync(`${aside}/${name}`);
run(bun, [
  'build',
  '--target=node',
  '--format=esm',
  '--splitting',
  'src/cli/main.ts',
  '--outdir',
  `${aside}/node`,
]);
// The store is a file of its own, because an older Node cannot load it, and openQueue() reports that.
run(bun, [
  ...['build', '--target=node', '--format=esm', '--splitting', 'src/index.ts', '--outdir', aside],
  ...['--chunk-naming', 'library/[name]-[hash].[ext]'],
]);
writeFileSync(`${aside}/queuectl.1`, await manPage());
run('node_modules/.bin/tsc', ['--project', 'scripts/tsconfig.types.json']);
keepReachable(`${aside}/types/index.d.ts`);
for (const name of readdirSync(aside)) {
  if (statSync(`${aside}/${name}`).isDirectory()) rmSync(`dist/${name}`, { recursive: true, force: true });
  renameSync(`${aside}/${name}`, `dist/${name}`);
}
rmSync(aside, { recursive: true });

/** Removes all declarations that the entry point of the library does not need: those of its internals. */
function keepReachable(entry: string): void {
  const needed = new Set([entry]);
  for (const file of needed)
    for (const [, from] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.ts['"]/g))
      needed.add(join(dirname(file), `${from}.d.ts`));
  const root = dirname(entry);
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.d.ts') && !needed.has(join(root, name))) rmSync(join(root, name));
}
