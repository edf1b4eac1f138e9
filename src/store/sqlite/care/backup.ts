import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { crashPoint } from '../../../core/crash-point.ts';
import { newDraft, removeDraft } from '../../../files/drafts.ts';
import { syncFile } from '../../../files/durable.ts';
import { putInPlace } from '../../../files/save-as.ts';
import type { Copied, CopyOptions } from '../../contract/file-care.ts';
import type { Store } from '../../store.ts';
import { checkTarget, replaceDatabase } from './backup-target.ts';
import { copySqlite, withCopy } from './copy.ts';
import { checkOwner } from './owner.ts';

export async function copyTo<T>(
  location: string,
  file: string,
  options: CopyOptions,
  renew: (copy: Store) => Promise<T>,
): Promise<Copied<T>> {
  const target = resolve(file);
  const replaced = await checkTarget(target, location, options);
  const draft = newDraft(target);
  try {
    crashPoint('before-backup');
    await copySqlite(location, draft);
    const made = await withCopy(draft, renew);
    syncFile(draft);
    crashPoint('in-backup');
    if (options.force) await replaceDatabase(draft, target, options.anyOwner);
    else putInPlace(draft, target);
    crashPoint('after-backup');
    syncFile(target);
    const isRemovable = replaced !== null && isOurs(target, options.anyOwner);
    return { file: target, bytes: statSync(target).size, made, replaced: isRemovable ? replaced : null };
  } finally {
    removeDraft(draft);
  }
}

/** Whoever else can write FILE.d could lead the removal of its outputs anywhere. */
function isOurs(target: string, anyOwner: boolean): boolean {
  try {
    checkOwner(target, anyOwner);
    return true;
  } catch {
    return false;
  }
}
