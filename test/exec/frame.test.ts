import { describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { frameArguments } from '../../src/exec/frame.ts';
import { type AttemptFiles, attemptFiles } from '../../src/state/attempt-files.ts';
import { readRecord, takeGate } from '../../src/state/record.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { inTempDir } from '../support/temp-dir.ts';

function run(files: AttemptFiles, command: string, argv: string[] | null = null) {
  const args = frameArguments({ record: files.record, umask: 0o022, openFileLimit: null, command, argv });
  return spawnSync('/bin/sh', args, { encoding: 'utf8' });
}

async function inPlace(work: (files: AttemptFiles) => void): Promise<void> {
  await inTempDir((directory) => {
    mkdirSync(`${directory}/attempts`);
    const files = attemptFiles(stateDirectory(directory), 'epoch', 1);
    work(files);
  });
}

describe('the frame', () => {
  test('records its pid and the exit code, and exits with that code', () =>
    inPlace((files) => {
      const result = run(files, 'echo "$PPID"; exit 3');
      expect(result.status).toBe(3);
      expect(readRecord(files)).toEqual({
        kind: 'ended',
        pid: Number(result.stdout),
        code: 3,
        signalled: false,
      });
    }));

  test('runs nothing when the gate was taken', () =>
    inPlace((files) => {
      expect(takeGate(files, '5-b00')).toBe(true);
      const result = run(files, 'echo ran');
      expect(result.status).toBe(75);
      expect(result.stdout + result.stderr).toBe('');
      expect(readRecord(files)).toEqual({ kind: 'gated', at: '5-b00' });
    }));

  test('takes the gate, so that recovery cannot', () =>
    inPlace((files) => {
      run(files, 'true');
      expect(takeGate(files, '5-b00')).toBe(false);
    }));

  test('survives a signal to its group and records the death of the command', () =>
    inPlace((files) => {
      const args = frameArguments({
        record: files.record,
        umask: 0o022,
        openFileLimit: null,
        command: 'kill -TERM 0',
        argv: null,
      });
      const result = spawnSync('setsid', ['-w', '/bin/sh', ...args], { encoding: 'utf8' });
      expect(result.status).toBe(143);
      expect(readRecord(files)).toMatchObject({ kind: 'ended', code: 143, signalled: true });
    }));

  test('gives the command the umask and the limit of open files, but neither its own variables nor its traps', () =>
    inPlace((files) => {
      const env = { PATH: process.env.PATH ?? '', c: 'c', r: 'r', code: 'code', PWD: process.cwd() };
      const args = frameArguments({
        record: files.record,
        umask: 0o027,
        openFileLimit: '100',
        command: 'env; trap; umask; ulimit -Sn; echo $#',
        argv: null,
      });
      const { stdout } = spawnSync('/bin/sh', args, { encoding: 'utf8', env });
      const plain = spawnSync('/bin/sh', ['-c', 'env; trap'], { encoding: 'utf8', env }).stdout;
      expect(stdout).toBe(`${plain}0027\n100\n0\n`);
    }));

  test('runs a program without a shell, which would interpret its arguments', () =>
    inPlace((files) => {
      const result = run(files, '', ['printf', '%s|', '$(id)', '; rm x', '*', '']);
      expect(result.stdout).toBe('$(id)|; rm x|*||');
      expect(result.status).toBe(0);
    }));

  test('does not run a shell builtin as a program', () =>
    inPlace((files) => {
      expect(run(files, '', ['exit', '3']).status).toBe(127);
      expect(readRecord(files)).toMatchObject({ kind: 'ended', code: 127 });
    }));

  test('writes a record of 19 bytes, its fixed width', () =>
    inPlace((files) => {
      run(files, 'exit 255');
      expect(readFileSync(files.record, 'latin1')).toHaveLength(19);
    }));

  const asUser = (uid: number) => [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', 'prlimit'];
  const canLimit = spawnSync('setpriv', [...asUser(1), '--nproc=9', 'true']).status === 0;
  /** Commands, each with the number of processes that the frame and the first program need, and with its exit code. */
  const NEEDS: [number, string, number?][] = [
    [1, 'true'],
    [2, 'sleep 0.01'],
    [2, 'printf x; test -e x', 1],
    [2, 'cd . && exec sleep 0.01'],
    [3, 'sleep 0.01; true'],
    [3, 'echo a && false || sleep 0.01'],
    [3, 'test a -bad b; sleep 0.01; test a -bad b', 2],
    [3, "sh -c 'exit 2' || sh -c 'exit 2'", 2],
    // Here the second program needs a fourth process, and its shell exits with 2.
    [3, "sh -c 'exit 4'; sh -c 'sleep 0.01; true'", 2],
  ];

  for (const [needed, command, code = 0] of NEEDS)
    test.skipIf(!canLimit)(`records that it cannot start the first program: ${command}`, () =>
      inTempDir((directory) => {
        chmodSync(directory, 0o777);
        const recorded = [1, 2, 3].map((limit) => {
          const record = `${directory}/${limit}`;
          const args = frameArguments({ record, umask: 0o022, openFileLimit: null, command, argv: null });
          const uid = 100_000 + Math.floor(Math.random() * 1e9);
          const { status } = spawnSync('setpriv', [...asUser(uid), `--nproc=${limit}`, '/bin/sh', ...args]);
          return [status, readFileSync(record, 'utf8').split(/\s+/)[1]];
        });
        const whenRun = [code, String(code)];
        expect(recorded).toEqual([1, 2, 3].map((limit) => (limit < needed ? [null, 'gate'] : whenRun)));
      }),
    );
});
