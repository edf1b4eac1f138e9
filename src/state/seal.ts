import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import type { Seal } from '../core/job.ts';
import { writeAtomically } from '../files/atomic.ts';
import { newDraft } from '../files/drafts.ts';
import { maybeRead } from '../files/maybe-read.ts';
import { attemptOf, type Place, removeAll } from './place.ts';
import type { StateDirectory } from './state-directory.ts';

/**
 * Returns the path of the seal, a file with a random value that is also in the store. It is named like the record of an
 * attempt, so that `rm attempts/*.rec` removes it. Attempt 0 sorts first, so even an interrupted `rm` has removed the seal.
 */
function sealPathOf(state: StateDirectory, epoch: string): string {
  return join(state.attempts, `${epoch}-0.rec`);
}

/** Returns the directory in which earlier versions of queuectl kept the seal. */
function earlierSealOf(state: StateDirectory, epoch: string): string {
  return join(state.attempts, `${epoch}-0`);
}

const SEAL_VALUE = /^[0-9a-f]{16}$/;

/** Returns the value of the seal, and creates the seal if there is none. Returns null if that fails, as on a full disk. */
export function makeSeal(state: StateDirectory, epoch: string): string | null {
  const file = sealPathOf(state, epoch);
  const found = readSeal(file);
  if (found !== null) return found;
  const value = randomBytes(8).toString('hex');
  try {
    crashPoint('before-make-seal');
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    crashPoint('in-make-seal');
    const draft = newDraft(file);
    crashPoint('writing-seal');
    writeAtomically(file, value, {
      draft,
      replace: true,
      sync: false,
      beforeNaming: () => crashPoint('moving-seal'),
    });
    crashPoint('after-make-seal');
    // An earlier version of queuectl would conclude from its own seal that attempts of this version never started.
    removeAll(earlierSealOf(state, epoch));
    return value;
  } catch {
    // Jobs can run without a seal, but a missing record then does not prove that the command never started.
    return null;
  }
}

/**
 * Tells whether the seal from before this attempt is still in place, so the directory of all attempts was not emptied since.
 * Only then does the missing record of the attempt prove that its command never started.
 */
export function isSealed(place: Place, attempt: number, seal: Seal | null): boolean {
  if (seal === null || attempt <= seal.after) return false;
  const { epoch } = attemptOf(place.name)!;
  return readSeal(sealPathOf(place.state, epoch)) === seal.value;
}

/** Removes the seal of a store whose attempts are about to be moved away or removed. */
export function removeSeal(state: StateDirectory, epoch: string): void {
  removeAll(sealPathOf(state, epoch));
  removeAll(earlierSealOf(state, epoch));
}

/** Reads a seal. Returns null if it is missing, or incomplete after a power cut. */
function readSeal(file: string): string | null {
  const text = maybeRead(file);
  return text !== null && SEAL_VALUE.test(text) ? text : null;
}
