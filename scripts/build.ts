/** Builds dist/: the executable and its man page, the same program for Node, and the library with its types. */
import { spawnSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
run(bun, ['build', '--target=node', '--format=esm', 'src/index.ts', '--outfile', `${aside}/index.js`]);
writeFileSync(`${aside}/queuectl.1`, await manPage());
run('node_modules/.bin/tsc', ['--project', 'scripts/tsconfig.types.json']);
for (const name of readdirSync(aside)) {
  if (statSync(`${aside}/${name}`).isDirectory()) rmSync(`dist/${name}`, { recursive: true, force: true });
  renameSync(`${aside}/${name}`, `dist/${name}`);
}
rmSync(aside, { recursive: true });
