import { describe, expect, test } from 'bun:test';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { cLibrary } from '../../src/files/c-library.ts';
import { openAlone } from '../../src/files/open-alone.ts';
import { until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

const ANY_AGE = 0;

function inFile(work: (path: string) => Promise<void> | void): () => Promise<void> {
  return () =>
    inTempDir(async (directory) => {
      const path = `${directory}/file`;
      writeFileSync(path, '', { mode: 0o600 });
      await work(path);
    });
}

/** Returns the flags with which a file is open, except one that only affects opening it. */
function flagsOf(file: number): number {
  const [, flags] = /flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'utf8'))!;
  return Number.parseInt(flags!, 8) & ~constants.O_NOFOLLOW;
}

describe.skipIf(cLibrary() === null)('openAlone', () => {
  test(
    'opens an empty file that nobody has open, as a new file is opened for appending',
    inFile((path) => {
      const file = openAlone(path, ANY_AGE)!;
      const other = openSync(`${path}-2`, 'ax', 0o600);
      expect(flagsOf(file)).toBe(flagsOf(other));
      closeSync(file);
      closeSync(other);
    }),
  );

  test.each<[string, (path: string) => void]>([
    ['is absent', (path) => unlinkSync(path)],
    ['has content', (path) => writeFileSync(path, 'x')],
    ['has another name', (path) => linkSync(path, `${path}-2`)],
    ['can be read by others', (path) => chmodSync(path, 0o644)],
    ['is too old', (path) => utimesSync(path, 1, 1)],
    [
      'is a link',
      (path) => {
        linkSync(path, `${path}-2`);
        unlinkSync(path);
        symlinkSync(`${path}-2`, path);
      },
    ],
    [
      'is a pipe',
      (path) => {
        unlinkSync(path);
        spawnSync('mkfifo', [path]);
      },
    ],
    [
      'is a directory',
      (path) => {
        unlinkSync(path);
        mkdirSync(path);
      },
    ],
  ])('does not open what %s', (_, change) =>
    inFile((path) => {
      change(path);
      expect(openAlone(path, 2000)).toBeNull();
    })(),
  );

  test.each(['r', 'a'])('does not open a file that is open with the flag %s', (flag) =>
    inFile((path) => {
      const file = openSync(path, flag);
      expect(openAlone(path, ANY_AGE)).toBeNull();
      closeSync(file);
      closeSync(openAlone(path, ANY_AGE)!);
    })(),
  );

  test(
    'does not open a file that another process has open',
    inFile(async (path) => {
      const holder = spawn('sh', ['-c', 'exec 9<"$0"; : >"$0.held"; read -r line', path], {
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      await until(() => existsSync(`${path}.held`), 'the file is held');
      expect(openAlone(path, ANY_AGE)).toBeNull();
      const gone = new Promise((resolve) => holder.once('exit', resolve));
      holder.stdin.end('\n');
      await gone;
      closeSync(openAlone(path, ANY_AGE)!);
    }),
  );

  test(
    'does not open a file that is mapped into memory',
    inFile((path) => {
      writeFileSync(path, 'x');
      const mapped = Bun.mmap(path);
      truncateSync(path);
      expect(openAlone(path, ANY_AGE)).toBeNull();
      // This use keeps the mapping until now.
      expect(mapped).toHaveLength(1);
    }),
  );

  test.skipIf(process.getuid!() !== 0)(
    'does not open a file of another user',
    inFile((path) => {
      chownSync(path, 65534, 65534);
      expect(openAlone(path, ANY_AGE)).toBeNull();
    }),
  );

  test(
    'can be called while another process opens and closes the file all the time',
    inFile(async (path) => {
      const busy = spawn('sh', ['-c', 'while test -e "$0"; do : <"$0"; done 2>/dev/null', path]);
      let [alone, together] = [0, 0];
      await until(() => {
        for (let i = 0; i < 100; i++) {
          const file = openAlone(path, ANY_AGE);
          if (file === null) together++;
          else {
            alone++;
            closeSync(file);
          }
        }
        return alone > 500 && together > 5;
      }, 'both results were seen');
      const gone = new Promise((resolve) => busy.once('exit', resolve));
      unlinkSync(path);
      await gone;
    }),
  );
});
