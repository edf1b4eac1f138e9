import { copyFileSync, readdirSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs the attacker as a process of its own. It repeatedly moves a hostile file beside a database and away again.
 * `target` is the path of the file, or a directory whose drafts are attacked as soon as one appears.
 */
const [how, hostile, target, end] = process.argv.slice(2) as [string, string, string, string];
const parked = `${hostile}.parked`;
process.stdout.write('ready\n');

const attempt = (work: () => void): void => {
  try {
    work();
  } catch {
    // The victim was faster, or the file does not exist yet.
  }
};

/** The file has to appear between two steps of the victim and stay until the victim is done. */
const pause = (most: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * most);
};

for (;;) {
  if (how === 'beside') {
    attempt(() => copyFileSync(hostile, parked, 1));
    pause(4);
    attempt(() => renameSync(parked, target + end));
    pause(12);
    attempt(() => renameSync(target + end, parked));
  } else {
    for (const name of readdirSync(target))
      if (name.endsWith('.draft')) attempt(() => renameSync(parked, join(target, name + end)));
    for (const name of readdirSync(target))
      if (name.endsWith(`.draft${end}`)) attempt(() => unlinkSync(join(target, name)));
    attempt(() => copyFileSync(hostile, parked, 1));
  }
}
