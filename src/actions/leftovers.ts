import { rmSync } from 'node:fs';
import { placesIn } from '../exec/running-commands.ts';
import { abandonedDrafts, abandonedParts, type Leftover, sizeOf, sweepDrafts } from '../files/drafts.ts';
import { isThere } from '../files/save-as.ts';
import { attemptOf, filesOf, type Place, removePlace } from '../state/place.ts';
import { killedRestores } from '../state/restoring.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { careOf } from '../store/open.ts';
import type { App } from './app.ts';

/* These match the names of unfinished files. Such a name ends with the pid of the process that writes the file. */
const BALLAST_DRAFT = /^ballast\.(\d+)$/;
const OUTPUT_DRAFT = /^[0-9a-f]{12}-\d+\.(?:out|err)\.(\d+)$/;
/** Matches the same in the directory that an earlier version of queuectl gave an attempt. */
const EARLIER_OUTPUT_DRAFT = /^(?:out|err)\.(\d+)$/;

/** Returns the files that killed processes left in a state directory. A null `epoch` leaves out the outputs that killed restores copied. */
export function leftoversIn(stateDirectory: StateDirectory, epoch: string | null): Leftover[] {
  const strayPlaces = epoch === null ? [] : strayOutputs(stateDirectory, epoch);
  return [
    ...abandonedDrafts(stateDirectory.path),
    ...abandonedParts(stateDirectory.path, BALLAST_DRAFT),
    ...abandonedDrafts(stateDirectory.attempts),
    ...abandonedParts(stateDirectory.attempts, OUTPUT_DRAFT),
    ...placesIn(stateDirectory)
      .filter(({ hasDirectory }) => hasDirectory)
      .flatMap(({ prefix }) => abandonedParts(prefix, EARLIER_OUTPUT_DRAFT)),
    ...strayPlaces.flatMap(filesOf).map((path) => ({ path, bytes: sizeOf(path) })),
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
