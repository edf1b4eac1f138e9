import { describe, expect, test } from 'bun:test';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { frameArguments } from '../../src/exec/frame.ts';
import { type AttemptFiles, attemptFiles } from '../../src/state/attempt-files.ts';
import { readRecord } from '../../src/state/record.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

/** Lists commands that must behave the same with a shell of their own and without. */
const COMMANDS = [
  'true',
  'false',
  'echo a  b',
  'echo -n \'a \\t b\' "c"; false; echo d || true && echo e',
  "printf '%s|' a 'b c' \"d e\"",
  'nosuchprogram a b',
  '/no/such/program',
  '/etc/passwd',
  '/',
  'ls /nosuchfile; echo after',
  'false && echo no || echo yes',
  'true && nosuchprogram; echo still',
  'false; true',
  'true; false',
  'test -e /etc/passwd',
  'test a = b',
  'test a -bad b',
  'printf',
  "sh -c 'exit 75'",
  "sh -c 'exit 76'",
  "sh -c 'exit 200'",
  "sh -c 'kill -9 $$'",
  "sh -c 'kill -TERM $$'; echo after",
  "echo before; sh -c 'kill -TERM $$'",
  "sh -c 'kill -INT 0'",
  "sh -c 'trap'",
  "sh -c 'umask; ulimit -n; set -o'",
  "sh -c 'echo to-stderr >&2'; echo to-stdout",
  "sh -c 'echo x >&3'",
  'ls /proc/self/fd',
  'printenv MARK',
  'env',
];

const FRAME_OPTIONS = { umask: 0o027, openFileLimit: '100', argv: null };
const FRAME_ARGUMENTS = {
  plain: (record: string, command: string) => frameArguments({ ...FRAME_OPTIONS, record, command }),
  // A command that is not plain gets a shell of its own. Its text is replaced by the command to test.
  shell: (record: string, command: string) => [
    ...frameArguments({ ...FRAME_OPTIONS, record, command: '$' }).slice(0, -1),
    command,
  ],
};

async function inPlace<T>(work: (files: AttemptFiles) => T | Promise<T>): Promise<T> {
  let result: T;
  await inTempDir(async (directory) => {
    mkdirSync(`${directory}/attempts`);
    const files = attemptFiles(stateDirectory(directory), 'epoch', 1);
    result = await work(files);
  });
  return result!;
}

const ENVIRONMENT = { PATH: process.env.PATH, MARK: 'here', LC_ALL: 'C' };

function resultOf(kind: keyof typeof FRAME_ARGUMENTS, command: string) {
  return inPlace((files) => {
    const args = FRAME_ARGUMENTS[kind](files.record, command);
    const { status, signal, stdout, stderr } = spawnSync('setsid', ['-w', '/bin/sh', ...args], {
      ...{ encoding: 'utf8', env: ENVIRONMENT, cwd: '/' },
    });
    const record = readRecord(files);
    // Some shells print how a signal ended their only program. Without a shell, nothing does.
    return {
      status,
      signal,
      stdout,
      stderr: stderr.replace(/^Killed\n$/, ''),
      record: { ...record, pid: 0 },
    };
  });
}

describe('a command without a shell of its own', () => {
  test('is part of the script of its frame and not an argument of a shell', () => {
    expect(FRAME_ARGUMENTS.plain('r', 'true').length).toBe(7);
    expect(FRAME_ARGUMENTS.shell('r', 'true').length).toBe(8);
  });

  for (const command of COMMANDS)
    test(`behaves as with a shell: ${command}`, async () => {
      expect(FRAME_ARGUMENTS.plain('r', command).length).toBe(7);
      expect(await resultOf('plain', command)).toEqual(await resultOf('shell', command));
    });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)
    for (const command of ['sleep 60', 'sleep 60; echo after', 'true && sleep 60 || echo after'])
      test(`ends as with a shell when its group gets ${signal}: ${command}`, async () => {
        const run = (kind: keyof typeof FRAME_ARGUMENTS) => resultAfterSignal(kind, command, signal);
        expect(await run('plain')).toEqual(await run('shell'));
      });
});

function resultAfterSignal(kind: keyof typeof FRAME_ARGUMENTS, command: string, signal: NodeJS.Signals) {
  return inPlace(async (files) => {
    const child = spawn('/bin/sh', FRAME_ARGUMENTS[kind](files.record, command), {
      detached: true,
      stdio: 'ignore',
    });
    const exit = once(child, 'exit');
    const group = child.pid!;
    // Once the program runs, all shells have started.
    await until(
      () => spawnSync('pgrep', ['-g', String(group), '-x', 'sleep']).status === 0,
      'the program runs',
    );
    process.kill(-group, signal);
    const [code] = await exit;
    return { code, record: { ...readRecord(files), pid: 0 } };
  });
}
