/** Builds dist/: the executable and its man page, the same program for Node, and the library with its types. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { manPage } from './man-page.ts';

const bun = process.execPath;

function run(program: string, args: string[], environment: Record<string, string> = {}): void {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production', ...environment },
  });
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}`);
  process.exit(status ?? 1);
}

run(bun, ['--no-install', 'scripts/ui.ts']);
run(bun, ['--no-install', 'scripts/manual.ts']);
run(bun, ['--no-install', 'scripts/licenses.ts']);

/** The files are built in this directory and then moved to dist/, so that a failed build leaves dist/ as it was. */
const staging = 'dist/.new';
rmSync(staging, { recursive: true, force: true });
const executable = `${staging}/queuectl`;
const compile = ['--no-install', 'scripts/compile.ts', 'src/cli/main.ts', executable];
run(bun, compile);
run(bun, [...compile, recordEnqueue()]);
rmSync(`${staging}/order`, { recursive: true });
// The executable already contains the source maps.
for (const name of readdirSync(staging)) if (name.endsWith('.map')) rmSync(`${staging}/${name}`);
run(bun, [
  'build',
  '--target=node',
  '--format=esm',
  '--splitting',
  'src/cli/main.ts',
  '--outdir',
  `${staging}/node`,
]);
// With --splitting, the store is a file of its own. An older Node cannot load that file, which openQueue() reports.
run(bun, [
  ...['build', '--target=node', '--format=esm', '--splitting', 'src/index.ts', '--outdir', staging],
  ...['--chunk-naming', 'library/[name]-[hash].[ext]'],
]);
writeFileSync(`${staging}/queuectl.1`, await manPage());
run('node_modules/.bin/tsc', ['--project', 'scripts/tsconfig.types.json']);
removeUnneededTypes(`${staging}/types/index.d.ts`);
for (const name of readdirSync(staging)) {
  if (statSync(`${staging}/${name}`).isDirectory()) rmSync(`dist/${name}`, { recursive: true, force: true });
  renameSync(`${staging}/${name}`, `dist/${name}`);
}
rmSync(staging, { recursive: true });

/** Runs an `enqueue` and returns the file that lists the functions it used. The next build puts their bytecode together. */
function recordEnqueue(): string {
  const order = `${staging}/order/functions`;
  mkdirSync(dirname(order), { mode: 0o700 });
  const environment = { QUEUECTL_DB: resolve(`${staging}/order/queue.db`) };
  run(executable, ['enqueue', 'true'], environment);
  run(executable, ['enqueue', 'true'], { ...environment, BUN_BYTECODE_ORDER_OUT: order });
  return order;
}

/** Removes the declarations of internals: all that the entry point of the library does not import, even indirectly. */
function removeUnneededTypes(entry: string): void {
  const needed = new Set([entry]);
  for (const file of needed)
    for (const [, from] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.ts['"]/g))
      needed.add(join(dirname(file), `${from}.d.ts`));
  const root = dirname(entry);
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.d.ts') && !needed.has(join(root, name))) rmSync(join(root, name));
}
