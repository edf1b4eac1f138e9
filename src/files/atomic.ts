import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { removeDraft } from './drafts.ts';
import { type NamingOptions, nameDraft } from './name-draft.ts';
import { writeAll } from './write-all.ts';

export interface AtomicOptions extends NamingOptions {
  /** The path to which the data is written first. The default is a random name beside the file. */
  draft?: string;
  /** The permissions of the file. The default is 0o600. */
  mode?: number;
  /** True to sync the data to disk before the file gets its name. */
  sync: boolean;
  /** Is called after the draft is written and before it gets its name. */
  beforeNaming?(): void;
}

/** Writes a file that others see complete or not at all (but see `needsLinks`). Returns false if it exists and `replace` is false. */
export function writeAtomically(file: string, data: string | Uint8Array, options: AtomicOptions): boolean {
  const draft = options.draft ?? `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    const out = openSync(draft, 'wx', options.mode ?? 0o600);
    try {
      writeAll(out, data);
      if (options.sync) fsyncSync(out);
    } finally {
      closeSync(out);
    }
    options.beforeNaming?.();
    return nameDraft(draft, file, options);
  } finally {
    rmSync(draft, { force: true });
    removeDraft(draft);
  }
}
