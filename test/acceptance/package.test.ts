/** Runs `npm pack` in a copy like a fresh clone, installs the tarball globally and tests the installation. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { makeTempDir } from '../support/temp-dir.ts';

const ROOT = resolve(import.meta.dir, '../..');
const temp = makeTempDir();
const clone = join(temp.path, 'clone');
const prefix = join(temp.path, 'prefix');
const project = join(temp.path, 'project');

function npm(cwd: string, ...args: string[]): string {
  // npm works offline here because the package has no dependencies.
  const flags = ['--offline', '--no-audit', '--no-fund', '--engine-strict=false'];
  return execFileSync('npm', [...args, ...flags], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

beforeAll(() => {
  const belongsInClone = (path: string): boolean => {
    const [first = ''] = relative(ROOT, path).split('/');
    return !['.git', 'node_modules', 'dist'].includes(first) && !path.endsWith('.generated.ts');
  };
  cpSync(ROOT, clone, { recursive: true, filter: belongsInClone });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  npm(clone, 'pack', '--pack-destination', temp.path);
  const [tarball] = readdirSync(temp.path).filter((name) => name.endsWith('.tgz'));
  npm(temp.path, 'install', '--global', '--prefix', prefix, join(temp.path, tarball!));
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  symlinkSync(join(prefix, 'lib/node_modules/queuectl'), join(project, 'node_modules/queuectl'));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
}, 110_000);

afterAll(temp.remove);

test('npm pack builds first, so the installed program works', () => {
  const program = join(prefix, 'bin/queuectl');
  const env = { PATH: process.env.PATH!, HOME: temp.path, QUEUECTL_HOME: join(temp.path, 'home') };
  const run = (...args: string[]) => spawnSync(program, args, { env, encoding: 'utf8' });
  expect(run('version').stdout).toBe(`${JSON.parse(readFileSync('package.json', 'utf8')).version}\n`);
  expect(run('enqueue', '--id', 'job', 'echo hello').stdout).toBe('job\n');
  expect(run('worker', 'start', '--drain').status).toBe(0);
  expect(run('logs', 'job').stdout).toBe('hello\n');
});

test('a global installation links the man page', () => {
  const page = join(prefix, 'share/man/man1/queuectl.1');
  expect(realpathSync(page)).toBe(join(prefix, 'lib/node_modules/queuectl/dist/queuectl.1'));
  expect(readFileSync(page, 'utf8')).toContain('.TH');
});

test('the package contains the library and its types, and installs no other packages', () => {
  expect(readdirSync(join(prefix, 'lib/node_modules'))).toEqual(['queuectl']);
  const { dependencies = {}, exports } = JSON.parse(
    readFileSync(join(project, 'node_modules/queuectl/package.json'), 'utf8'),
  );
  expect(dependencies).toEqual({});
  for (const file of Object.values<string>(exports['.']))
    expect(readFileSync(join(project, 'node_modules/queuectl', file), 'utf8')).toContain('openQueue');
});

const PROGRAM = `
import { openQueue } from 'queuectl';
const queue = await openQueue({ db: './queue.db' }).catch((error) => {
  console.log(error.code, error.message);
  process.exit(1);
});
const job = await queue.enqueue('echo hello');
await queue.startWorker();
await queue.wait(job.id);
console.log(await queue.logs(job.id));
await queue.close();
`;

test('a program uses the installed library, and on an older Node it reports the version that it needs', () => {
  writeFileSync(join(project, 'program.js'), PROGRAM);
  const run = (runtime: string): string =>
    spawnSync(runtime, ['program.js'], { cwd: project, encoding: 'utf8', timeout: 60_000 }).stdout;
  expect(run(process.execPath)).toBe('hello\n\n');
  const version = execFileSync('node', ['--version'], { encoding: 'utf8' }).trim().slice(1);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < 24 || (major === 24 && minor < 15);
  expect(run('node')).toBe(
    isOld
      ? `unsupported-platform queuectl needs Node 24.15 or later, and this is Node ${version}\n`
      : 'hello\n\n',
  );
});
