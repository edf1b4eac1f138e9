import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { placesIn } from '../exec/running-commands.ts';
import { abandonedDrafts, abandonedParts, type Leftover, sizeOf, sweepDrafts } from '../files/drafts.ts';
import { namesIn } from '../files/names-in.ts';
import { isThere } from '../files/save-as.ts';
import { attemptOf, type Place, removePlace } from '../state/place.ts';
import { killedRestores } from '../state/restoring.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { careOf } from '../store/open.ts';
import type { App } from './app.ts';

/* These match the names of unfinished files. Such a name ends with the pid of the process that writes the file. */
const BALLAST_DRAFT = /^ballast\.(\d+)$/;
const OUTPUT_DRAFT = /^(?:out|err)\.(\d+)$/;

/** Returns the files that killed processes left in a state directory. A null `epoch` leaves out the outputs that killed restores copied. */
export function leftoversIn(stateDirectory: StateDirectory, epoch: string | null): Leftover[] {
  const strayPlaces = epoch === null ? [] : strayOutputs(stateDirectory, epoch);
  return [
    ...abandonedDrafts(stateDirectory.path),
    ...abandonedParts(stateDirectory.path, BALLAST_DRAFT),
    ...namesIn(stateDirectory.attempts).flatMap((name) =>
      abandonedParts(join(stateDirectory.attempts, name), OUTPUT_DRAFT),
    ),
    ...strayPlaces.map(({ directory }) => ({ path: directory, bytes: sizeOf(directory) })),
  ];
}

/** Removes the files that killed processes left. Drafts of outputs are removed later, when their attempt is settled. */
export async function clearLeftovers({ store, stateDirectory }: App, location: string): Promise<void> {
  (await careOf(location)).clearLeftovers(location);
  sweepDrafts(stateDirectory.path);
  for (const { path } of abandonedParts(stateDirectory.path, BALLAST_DRAFT)) rmSync(path, { force: true });
  clearStrayOutputs(stateDirectory, store.epoch);
}

/** Returns the outputs that a killed restore copied. Their epoch is not that of the store, and they have no record. */
function strayOutputs(stateDirectory: StateDirectory, epoch: string): Place[] {
  const strayEpochs = new Set(killedRestores(stateDirectory).map((one) => one.epoch));
  strayEpochs.delete(epoch);
  // Listing the attempts is slow, and usually no restore was killed.
  if (strayEpochs.size === 0) return [];
  return placesIn(stateDirectory).filter(
    ({ name, record }) => strayEpochs.has(attemptOf(name)!.epoch) && !isThere(record),
  );
}

function clearStrayOutputs(stateDirectory: StateDirectory, epoch: string): void {
  const killed = killedRestores(stateDirectory);
  for (const place of strayOutputs(stateDirectory, epoch)) removePlace(place);
  for (const { note } of killed) rmSync(note, { force: true });
}

/** Forgets killed restores of this epoch, or of all epochs if it is null, so that the outputs that they copied are kept. */
export function forgetKilledRestores(stateDirectory: StateDirectory, epoch: string | null): void {
  for (const one of killedRestores(stateDirectory))
    if (epoch === null || one.epoch === epoch) rmSync(one.note, { force: true });
}
