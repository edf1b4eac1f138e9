import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { crashPoint } from '../../../core/crash-point.ts';
import { syncFile } from '../../../files/durable.ts';
import { putInPlace } from '../../../files/save-as.ts';
import { newDraft, removeDraft } from '../../../files/write.ts';
import type { CopyOptions, CopyResult } from '../../contract/file-care.ts';
import type { Store } from '../../store.ts';
import { checkTarget, replaceDatabase } from './backup-target.ts';
import { copySqlite, withCopy } from './copy.ts';
import { safetyProblems } from './owner.ts';

export async function writeBackup<T>(
  location: string,
  file: string,
  options: CopyOptions,
  renew: (copy: Store) => Promise<T>,
): Promise<CopyResult<T>> {
  const target = resolve(file);
  const replacedEpoch = await checkTarget(target, location, options);
  const draft = newDraft(target);
  try {
    crashPoint('before-backup');
    await copySqlite(location, draft);
    const renewResult = await withCopy(draft, renew);
    syncFile(draft);
    crashPoint('in-backup');
    if (options.force) await replaceDatabase(draft, target, options.anyOwner);
    else putInPlace(draft, target);
    crashPoint('after-backup');
    syncFile(target);
    // Another user who can write to FILE.d could redirect the removal of its outputs with links.
    const isSafe = options.anyOwner || safetyProblems(target).length === 0;
    return {
      file: target,
      bytes: statSync(target).size,
      renewResult,
      replacedEpoch: isSafe ? replacedEpoch : null,
    };
  } finally {
    removeDraft(draft);
  }
}
