import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { abandonedFiles, pidScope } from '../files/drafts.ts';
import { sync } from '../files/durable.ts';
import type { StateDirectory } from './state-directory.ts';

const NOTE_NAME = /^restoring-([0-9a-f]{8})-(\d+)-([0-9a-f]{12})$/;

/** Creates a note that a restore copies outputs for a store that is not in place yet. Without it, the outputs of a killed restore would stay. */
export function noteRestoring(state: StateDirectory, epoch: string): void {
  crashPoint('before-restoring');
  mkdirSync(state.path, { recursive: true, mode: 0o700 });
  crashPoint('in-restoring');
  closeSync(openSync(notePathOf(state, epoch), 'wx', 0o600));
  sync(state.path);
  crashPoint('after-restoring');
}

/** Removes the note of this process. */
export function forgetRestoring(state: StateDirectory, epoch: string): void {
  crashPoint('before-forget-restoring');
  rmSync(notePathOf(state, epoch), { force: true });
  // A power cut must not bring the note back, because the store may be elsewhere by then.
  sync(state.path);
  crashPoint('after-forget-restoring');
}

/** Returns the restores that were killed, perhaps after their store was already in place. `note` is the path of the note. */
export function killedRestores(state: StateDirectory): { epoch: string; note: string }[] {
  return abandonedFiles(state.path, NOTE_NAME).map(({ path }) => ({
    epoch: NOTE_NAME.exec(basename(path))![3]!,
    note: path,
  }));
}

function notePathOf(state: StateDirectory, epoch: string): string {
  return join(state.path, `restoring-${pidScope()}-${process.pid}-${epoch}`);
}
