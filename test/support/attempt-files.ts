import { mkdirSync } from 'node:fs';
import { type AttemptFiles, attemptFiles, namesByAttempt } from '../../src/state/attempt-files.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import type { Sandbox } from './queuectl.ts';
import { inTempDir } from './temp-dir.ts';

/** Runs a test with the files of an attempt, in a new state directory. */
export function withAttemptFiles(work: (files: AttemptFiles) => Promise<void> | void): Promise<void> {
  return inTempDir(async (directory) => {
    mkdirSync(`${directory}/attempts`);
    const files = attemptFiles(stateDirectory(directory), 'epoch', 1);
    await work(files);
  });
}

/** Returns lines that contain their own number, so that a lost, repeated or wrongly cut line is noticed. */
export function numberedLines(from: number, to: number): string {
  let text = '';
  for (let i = from; i < to; i++) text += `${String(i).padStart(9)}\n`;
  return text;
}

/** Returns the names of the attempts that have files. */
export function attemptNames(box: Sandbox): string[] {
  return [...filesByAttempt(box).keys()];
}

/** Returns the names of the files of all attempts without the names of the attempts, such as `out` and `rec`. */
export function fileNames(box: Sandbox): string[] {
  const names = [...filesByAttempt(box).values()].flat();
  return names.map((name) => name.slice(name.indexOf('.') + 1)).sort();
}

const filesByAttempt = (box: Sandbox): Map<string, string[]> =>
  namesByAttempt(stateDirectory(box.stateDirectory()));
