/** Tests which variables of the caller the runtime inside the executable obeys: exactly those that docs/security.md lists. */

import { expect } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const SECURITY_PAGE = readFileSync('docs/security.md', 'utf8');
const OBEYED_VARIABLES = ['BUN_OPTIONS', 'BUN_INSPECT_PRELOAD'];
const IGNORED_VARIABLES = ['NODE_OPTIONS', 'NODE_PATH', 'BUN_INSTALL', 'BUN_CONFIG_PRELOAD'];

test('only the documented variables load code, and workers and jobs do not get BUN_OPTIONS', async (box) => {
  const evil = join(box.directory, 'evil.js');
  const trace = join(box.directory, 'trace');
  const timesLoaded = (): number => (existsSync(trace) ? readFileSync(trace, 'utf8').length : 0);
  writeFileSync(evil, `require('node:fs').appendFileSync(${JSON.stringify(trace)}, 'x');`);
  const values: Record<string, string> = {
    BUN_OPTIONS: `--preload=${evil}`,
    NODE_OPTIONS: `--require ${evil}`,
  };
  for (const name of [...OBEYED_VARIABLES, ...IGNORED_VARIABLES]) {
    const before = timesLoaded();
    await box.run(['version'], { env: { [name]: values[name] ?? evil } });
    expect({ name, obeyed: timesLoaded() > before }).toEqual({
      name,
      obeyed: OBEYED_VARIABLES.includes(name),
    });
    const row = SECURITY_PAGE.split('\n').find(
      (line) => line.startsWith('|') && line.includes(name.replace('PRELOAD', '')),
    );
    expect({ name, row: row?.includes('| obeyed') ?? null }).toEqual({
      name,
      row: OBEYED_VARIABLES.includes(name),
    });
  }
  const asBun = await box.run(['--version'], { env: { BUN_BE_BUN: '1' } });
  expect(asBun.stdout.trim()).toBe(Bun.version);

  for (const name of ['BUN_BYTECODE_ORDER_OUT', 'BUN_BYTECODE_DIGEST_OUT']) {
    await box.run(['version'], { env: { [name]: join(box.directory, name) } });
    expect(existsSync(join(box.directory, name))).toBe(true);
    expect(SECURITY_PAGE).toMatch(new RegExp(`\\| .*\`${name}\`.* \\| obeyed`));
  }

  await box.run(['enqueue', '--id', 'job', 'env | grep -c ^BUN_; true']);
  const before = timesLoaded();
  const env = { BUN_OPTIONS: `--preload=${evil}` };
  const worker = await box.run(['worker', 'start', '--drain'], { env });
  expect(worker.code).toBe(0);
  // Only the command itself may load the file: once, and again if it restarts with fewer threads.
  expect(timesLoaded() - before).toBeLessThanOrEqual(2);
  expect((await box.run(['logs', 'job'])).stdout).toBe('0\n');
});

test('doctor warns of variables that the runtime obeys, and of no others', async (box) => {
  const env = { BUN_OPTIONS: '--smol', BUN_INSTALL: '/x' };
  const { stdout } = await box.run(['doctor', '--json'], { env });
  const runtime = JSON.parse(stdout).checks.find(({ check }: { check: string }) => check === 'runtime');
  expect(runtime).toMatchObject({ status: 'warn', fix: 'unset BUN_OPTIONS' });
  const withoutWarning = JSON.parse(
    (await box.run(['doctor', '--json'], { env: { BUN_INSTALL: '/x' } })).stdout,
  );
  expect(withoutWarning.checks.find(({ check }: { check: string }) => check === 'runtime').status).toBe('ok');
});
