import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { abandonedDrafts, abandonedParts, type Leftover, removeDrafts } from '../files/drafts.ts';
import { namesIn } from '../files/names-in.ts';
import { careOf } from '../store/open.ts';
import type { App } from './app.ts';
import { clearStrayOutputs, strayOutputs } from './stray-outputs.ts';

const BALLAST = /^ballast\.(\d+)$/;
const OUTPUT = /^(?:out|err)\.(\d+)$/;

/** Returns what killed processes left unfinished in a state directory. `epoch` null: the store cannot be read. */
export function leftoversIn(stateDirectory: string, epoch: string | null): Leftover[] {
  const attempts = `${stateDirectory}/attempts`;
  const stray = epoch === null ? [] : strayOutputs(stateDirectory, epoch);
  return [
    ...abandonedDrafts(stateDirectory),
    ...abandonedParts(stateDirectory, BALLAST),
    ...namesIn(attempts).flatMap((name) => abandonedParts(join(attempts, name), OUTPUT)),
    ...stray.map(({ directory }) => ({ path: directory, bytes: sizeOf(directory) })),
  ];
}

/** Removes what killed processes left, in and beside the store. Drafts of outputs go when their attempt is settled. */
export async function clearLeftovers({ store, stateDirectory }: App, location: string): Promise<void> {
  (await careOf(location)).clearLeftovers(location);
  removeDrafts(stateDirectory);
  for (const { path } of abandonedParts(stateDirectory, BALLAST)) rmSync(path, { force: true });
  clearStrayOutputs(stateDirectory, store.epoch);
}

function sizeOf(directory: string): number {
  const sizes = namesIn(directory).map(
    (name) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, one) => sum + one, 0);
}
