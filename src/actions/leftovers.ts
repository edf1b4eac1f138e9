import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { abandonedDrafts, abandonedParts, type Leftover, removeDrafts } from '../files/drafts.ts';
import { namesIn } from '../files/names-in.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { careOf } from '../store/open.ts';
import type { App } from './app.ts';
import { clearStrayOutputs, strayOutputs } from './stray-outputs.ts';

const BALLAST = /^ballast\.(\d+)$/;
const OUTPUT = /^(?:out|err)\.(\d+)$/;

/** Returns what killed processes left unfinished in a state directory. `epoch` null: the store cannot be read. */
export function leftoversIn(stateDirectory: StateDirectory, epoch: string | null): Leftover[] {
  const stray = epoch === null ? [] : strayOutputs(stateDirectory, epoch);
  return [
    ...abandonedDrafts(stateDirectory.path),
    ...abandonedParts(stateDirectory.path, BALLAST),
    ...namesIn(stateDirectory.attempts).flatMap((name) =>
      abandonedParts(join(stateDirectory.attempts, name), OUTPUT),
    ),
    ...stray.map(({ directory }) => ({ path: directory, bytes: sizeOf(directory) })),
  ];
}

/** Removes what killed processes left, in and beside the store. Drafts of outputs go when their attempt is settled. */
export async function clearLeftovers({ store, stateDirectory }: App, location: string): Promise<void> {
  (await careOf(location)).clearLeftovers(location);
  removeDrafts(stateDirectory.path);
  for (const { path } of abandonedParts(stateDirectory.path, BALLAST)) rmSync(path, { force: true });
  clearStrayOutputs(stateDirectory, store.epoch);
}

function sizeOf(directory: string): number {
  const sizes = namesIn(directory).map(
    (name) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, one) => sum + one, 0);
}
