import { mkdirSync } from 'node:fs';
import { type Place, placeOf } from '../../src/state/place.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { inTempDir } from './temp-dir.ts';

/** Runs a test with the place of an attempt, in a new state directory. */
export function withPlace(work: (place: Place) => Promise<void> | void): Promise<void> {
  return inTempDir(async (directory) => {
    mkdirSync(`${directory}/attempts`);
    const place = placeOf(stateDirectory(directory), 'epoch', 1);
    await work(place);
  });
}

/** Returns lines that contain their own number, so that a lost, repeated or wrongly cut line is noticed. */
export function numberedLines(from: number, to: number): string {
  let text = '';
  for (let i = from; i < to; i++) text += `${String(i).padStart(9)}\n`;
  return text;
}
