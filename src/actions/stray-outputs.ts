import { rmSync } from 'node:fs';
import { placesIn } from '../exec/living.ts';
import { isThere } from '../files/save-as.ts';
import { attemptOf, type Place, removePlace } from '../state/place.ts';
import { killedRestores } from '../state/restoring.ts';
import type { StateDirectory } from '../state/state-directory.ts';

/**
 * Outputs that a restore copied for a store which never took its place, because the restore was killed: of an epoch that the
 * store does not have, and without the record that an attempt itself leaves.
 */
export function strayOutputs(stateDirectory: StateDirectory, epoch: string): Place[] {
  const stray = new Set(killedRestores(stateDirectory).map((one) => one.epoch));
  stray.delete(epoch);
  // Most often there are none, and the rest is not looked at.
  if (stray.size === 0) return [];
  return placesIn(stateDirectory).filter(
    ({ name, record }) => stray.has(attemptOf(name)!.epoch) && !isThere(record),
  );
}

export function clearStrayOutputs(stateDirectory: StateDirectory, epoch: string): void {
  const killed = killedRestores(stateDirectory);
  for (const place of strayOutputs(stateDirectory, epoch)) removePlace(place);
  for (const { note } of killed) rmSync(note, { force: true });
}

/**
 * Before the store is put aside: a restore that was killed right after its swap made it, and its outputs must not be taken for
 * stray ones. `epoch` null: it cannot be read, so any could be its.
 */
export function keepOutputsOf(stateDirectory: StateDirectory, epoch: string | null): void {
  for (const one of killedRestores(stateDirectory))
    if (epoch === null || one.epoch === epoch) rmSync(one.note, { force: true });
}
