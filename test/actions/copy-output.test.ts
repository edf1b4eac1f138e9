import { expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { copyOutput } from '../../src/actions/transfer/backup.ts';
import { watchCrashPoints } from '../../src/core/crash-point.ts';
import { type AttemptFiles, attemptFiles } from '../../src/state/attempt-files.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { inTempDir } from '../support/temp-dir.ts';

function inDirectories(work: (from: AttemptFiles, to: AttemptFiles, secret: string) => void): Promise<void> {
  return inTempDir((directory) => {
    const [from, to] = ['backup', 'queue'].map((name) =>
      attemptFiles(stateDirectory(`${directory}/${name}`), 'abcdefabcdef', 1),
    );
    mkdirSync(from!.state.attempts, { recursive: true });
    const secret = `${directory}/secret`;
    writeFileSync(secret, 'secret');
    work(from!, to!, secret);
    return Promise.resolve();
  });
}

test('output is never copied from a link, even if it takes the place of the file during the copy', () =>
  inDirectories((from, to, secret) => {
    writeFileSync(from.output, 'output');
    watchCrashPoints((name) => {
      if (name !== 'in-keep-output') return;
      rmSync(from.output);
      symlinkSync(secret, from.output);
    });
    try {
      copyOutput(from, to, 100);
    } finally {
      watchCrashPoints(null);
    }
    expect(readFileSync(to.output, 'utf8')).toBe('output');
    rmSync(to.output);
    copyOutput(from, to, 100);
    expect(existsSync(to.output)).toBe(false);
  }));

test('a pipe in place of output is not opened for reading', () =>
  inDirectories((from, to) => {
    execFileSync('mkfifo', [from.output]);
    copyOutput(from, to, 100);
    expect(existsSync(to.output)).toBe(false);
  }));

test('no more bytes are copied than the store lists, and the copy is private', () =>
  inDirectories((from, to) => {
    writeFileSync(from.output, 'output', { mode: 0o644 });
    truncateSync(from.output, 2 ** 40);
    copyOutput(from, to, 3_000_000);
    const { size, mode } = statSync(to.output);
    expect([size, mode & 0o777]).toEqual([3_000_000, 0o600]);
    expect(() => copyOutput(from, to, 1)).toThrow('EEXIST');
  }));
