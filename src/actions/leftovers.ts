import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { placesIn } from '../exec/living.ts';
import { abandonedDrafts, abandonedParts, type Leftover, sizeOf, sweepDrafts } from '../files/drafts.ts';
import { namesIn } from '../files/names-in.ts';
import { isThere } from '../files/save-as.ts';
import { attemptOf, type Place, removePlace } from '../state/place.ts';
import { killedRestores } from '../state/restoring.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { careOf } from '../store/open.ts';
import type { App } from './app.ts';

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
  sweepDrafts(stateDirectory.path);
  for (const { path } of abandonedParts(stateDirectory.path, BALLAST)) rmSync(path, { force: true });
  clearStrayOutputs(stateDirectory, store.epoch);
}

/** Returns the outputs that a killed restore left: of another epoch, and without the record that an attempt leaves. */
function strayOutputs(stateDirectory: StateDirectory, epoch: string): Place[] {
  const stray = new Set(killedRestores(stateDirectory).map((one) => one.epoch));
  stray.delete(epoch);
  // Usually there are none, and the attempts need not be listed.
  if (stray.size === 0) return [];
  return placesIn(stateDirectory).filter(
    ({ name, record }) => stray.has(attemptOf(name)!.epoch) && !isThere(record),
  );
}

function clearStrayOutputs(stateDirectory: StateDirectory, epoch: string): void {
  const killed = killedRestores(stateDirectory);
  for (const place of strayOutputs(stateDirectory, epoch)) removePlace(place);
  for (const { note } of killed) rmSync(note, { force: true });
}

/** Keeps the outputs of a store that is put aside, which a killed restore may have made. `epoch` null: it is unreadable. */
export function keepOutputsOf(stateDirectory: StateDirectory, epoch: string | null): void {
  for (const one of killedRestores(stateDirectory))
    if (epoch === null || one.epoch === epoch) rmSync(one.note, { force: true });
}
