import { constants, copyFileSync, readdirSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The process of an attacker, which runs until it is killed. With the mode `beside`, it repeatedly moves a hostile file beside the
 * database `target` and away again. With `drafts`, it moves the file beside each draft in the directory `target`. The moved
 * file is named like the database or draft, with `suffix`.
 */
const [mode, hostile, target, suffix] = process.argv.slice(2) as [string, string, string, string];
const parked = `${hostile}.parked`;
process.stdout.write('ready\n');

const ignoreError = (work: () => void): void => {
  try {
    work();
  } catch {
    // The victim was faster, or the file does not exist yet.
  }
};

/** Waits for up to `maxMs` ms at random, so that the file comes and goes between different steps of the victim. */
const pause = (maxMs: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * maxMs);
};

for (;;) {
  if (mode === 'beside') {
    ignoreError(() => copyFileSync(hostile, parked, constants.COPYFILE_EXCL));
    pause(4);
    ignoreError(() => renameSync(parked, target + suffix));
    pause(12);
    ignoreError(() => renameSync(target + suffix, parked));
  } else {
    for (const name of readdirSync(target))
      if (name.endsWith('.draft')) ignoreError(() => renameSync(parked, join(target, name + suffix)));
    for (const name of readdirSync(target))
      if (name.endsWith(`.draft${suffix}`)) ignoreError(() => unlinkSync(join(target, name)));
    ignoreError(() => copyFileSync(hostile, parked, constants.COPYFILE_EXCL));
  }
}
