import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { abandonedBy, here } from '../files/drafts.ts';
import { sync } from '../files/durable.ts';

const NAME = /^restoring-([0-9a-f]{8})-(\d+)-([0-9a-f]{12})$/;

/**
 * A note that outputs are copied for a store of this epoch, which has not taken its place yet. It is on disk before the first
 * of them, and gone once they are in use: nothing else tells them from outputs that somebody needs.
 */
export function noteRestoring(stateDirectory: string, epoch: string): void {
  crashPoint('before-restoring');
  mkdirSync(stateDirectory, { recursive: true, mode: 0o700 });
  crashPoint('in-restoring');
  closeSync(openSync(noteOf(stateDirectory, epoch), 'wx', 0o600));
  sync(stateDirectory);
  crashPoint('after-restoring');
}

export function forgetRestoring(stateDirectory: string, epoch: string): void {
  crashPoint('before-forget-restoring');
  rmSync(noteOf(stateDirectory, epoch), { force: true });
  // No power cut may bring it back: the store may be somewhere else by then.
  sync(stateDirectory);
  crashPoint('after-forget-restoring');
}

/** Restores that were killed, perhaps when their store had its place already. */
export function killedRestores(stateDirectory: string): { epoch: string; note: string }[] {
  return abandonedBy(stateDirectory, NAME).map(({ path }) => ({
    epoch: NAME.exec(basename(path))![3]!,
    note: path,
  }));
}

function noteOf(stateDirectory: string, epoch: string): string {
  return join(stateDirectory, `restoring-${here()}-${process.pid}-${epoch}`);
}
