import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { abandonedBy, here } from '../files/drafts.ts';
import { sync } from '../files/durable.ts';
import type { StateDirectory } from './state-directory.ts';

const NAME = /^restoring-([0-9a-f]{8})-(\d+)-([0-9a-f]{12})$/;

/** Notes that outputs are copied for a store that has not taken its place yet. Nothing else tells them from needed ones. */
export function noteRestoring(state: StateDirectory, epoch: string): void {
  crashPoint('before-restoring');
  mkdirSync(state.path, { recursive: true, mode: 0o700 });
  crashPoint('in-restoring');
  closeSync(openSync(noteOf(state, epoch), 'wx', 0o600));
  sync(state.path);
  crashPoint('after-restoring');
}

export function forgetRestoring(state: StateDirectory, epoch: string): void {
  crashPoint('before-forget-restoring');
  rmSync(noteOf(state, epoch), { force: true });
  // A power cut must not bring it back, because the store may be somewhere else by then.
  sync(state.path);
  crashPoint('after-forget-restoring');
}

/** Returns the restores that were killed, perhaps after their store had taken its place. */
export function killedRestores(state: StateDirectory): { epoch: string; note: string }[] {
  return abandonedBy(state.path, NAME).map(({ path }) => ({
    epoch: NAME.exec(basename(path))![3]!,
    note: path,
  }));
}

function noteOf(state: StateDirectory, epoch: string): string {
  return join(state.path, `restoring-${here()}-${process.pid}-${epoch}`);
}
