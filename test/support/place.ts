import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makePlace, type Place, placeOf } from '../../src/state/place.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import type { Sandbox } from './queuectl.ts';
import { inTempDir } from './temp-dir.ts';

/** Runs a test with the directory of an attempt, in a new state directory. */
export function withPlace(work: (place: Place) => Promise<void> | void): Promise<void> {
  return inTempDir(async (directory) => {
    mkdirSync(`${directory}/attempts`);
    const place = placeOf(stateDirectory(directory), 'epoch', 1);
    makePlace(place);
    await work(place);
  });
}

/** Returns lines that contain their own number, so that a lost, repeated or wrongly cut line is noticed. */
export function numberedLines(from: number, to: number): string {
  let text = '';
  for (let i = from; i < to; i++) text += `${String(i).padStart(9)}\n`;
  return text;
}

/** Returns the names of the attempt directories, except number 0, which is the seal. */
export function placeNames(box: Sandbox): string[] {
  const entries = readdirSync(join(box.home, 'queue.db.d', 'attempts'), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.endsWith('-0'))
    .map((entry) => entry.name);
}
