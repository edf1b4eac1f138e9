import { describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { frameArguments } from '../../src/exec/frame.ts';
import { type Place, placeOf } from '../../src/state/place.ts';
import { readRecord, takeGate } from '../../src/state/record.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { inTempDir } from '../support/temp-dir.ts';

function run(place: Place, command: string, argv: string[] | null = null) {
  const args = frameArguments({ record: place.record, umask: 0o022, openFileLimit: null, command, argv });
  return spawnSync('/bin/sh', args, { encoding: 'utf8' });
}

async function inPlace(work: (place: Place) => void): Promise<void> {
  await inTempDir((directory) => {
    mkdirSync(`${directory}/attempts`);
    const place = placeOf(stateDirectory(directory), 'epoch', 1);
    work(place);
  });
}

describe('the frame', () => {
  test('records its pid and the exit code, and exits with that code', () =>
    inPlace((place) => {
      const result = run(place, 'echo "$PPID"; exit 3');
      expect(result.status).toBe(3);
      expect(readRecord(place)).toEqual({
        kind: 'ended',
        pid: Number(result.stdout),
        code: 3,
        signalled: false,
      });
    }));

  test('runs nothing when the gate was taken', () =>
    inPlace((place) => {
      expect(takeGate(place)).toBe(true);
      const result = run(place, 'echo ran');
      expect(result.status).toBe(75);
      expect(result.stdout + result.stderr).toBe('');
      expect(readRecord(place)).toEqual({ kind: 'gated' });
    }));

  test('takes the gate, so that recovery cannot', () =>
    inPlace((place) => {
      run(place, 'true');
      expect(takeGate(place)).toBe(false);
    }));

  test('survives a signal to its group and records the death of the command', () =>
    inPlace((place) => {
      const args = frameArguments({
        record: place.record,
        umask: 0o022,
        openFileLimit: null,
        command: 'kill -TERM 0',
        argv: null,
      });
      const result = spawnSync('setsid', ['-w', '/bin/sh', ...args], { encoding: 'utf8' });
      expect(result.status).toBe(143);
      expect(readRecord(place)).toMatchObject({ kind: 'ended', code: 143, signalled: true });
    }));

  test('gives the command the umask and the limit of open files, but neither its own variables nor its traps', () =>
    inPlace((place) => {
      const env = { PATH: process.env.PATH ?? '', c: 'c', r: 'r', code: 'code', PWD: process.cwd() };
      const args = frameArguments({
        record: place.record,
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
    inPlace((place) => {
      const result = run(place, '', ['printf', '%s|', '$(id)', '; rm x', '*', '']);
      expect(result.stdout).toBe('$(id)|; rm x|*||');
      expect(result.status).toBe(0);
    }));

  test('does not run a shell builtin as a program', () =>
    inPlace((place) => {
      expect(run(place, '', ['exit', '3']).status).toBe(127);
      expect(readRecord(place)).toMatchObject({ kind: 'ended', code: 127 });
    }));

  test('writes a record of 19 bytes, its fixed width', () =>
    inPlace((place) => {
      run(place, 'exit 255');
      expect(readFileSync(place.record, 'latin1')).toHaveLength(19);
    }));
});
