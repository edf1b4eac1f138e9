import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { removeDraft } from './drafts.ts';
import { type NamingOptions, nameDraft } from './name-draft.ts';
import { writeAll } from './write-all.ts';

export interface AtomicOptions extends NamingOptions {
  /** Where the file is written first; by default a random name beside it. */
  draft?: string;
  mode?: number;
  /** Bring the data to the disk before the file gets its name. */
  sync: boolean;
  /** Is called between writing and naming; for crash points. */
  beforeNaming?(): void;
}

/** Writes a file that others see complete or not at all. Returns false if it was there and is not to be replaced. */
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
