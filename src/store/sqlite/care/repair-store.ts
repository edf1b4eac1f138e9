import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { newDraft, removeDraft } from '../../../files/drafts.ts';
import { syncFile } from '../../../files/durable.ts';
import type { RepairSteps } from '../../contract/file-care.ts';
import { isSoundStore } from './check.ts';
import { withCopy } from './copy.ts';
import { refuseSecondName } from './current-files.ts';
import { missingError } from './odd-file.ts';
import { checkSafety } from './owner.ts';
import { repairSqlite } from './repair.ts';
import { finishKilledSwap, refuseWhileUsed, swap, takeStore } from './swap.ts';

export async function repairStore(location: string, anyOwner: boolean, steps: RepairSteps) {
  if (!existsSync(location)) throw missingError(resolve(location));
  const db = realpathSync(location);
  checkSafety(resolve(location), anyOwner);
  await refuseSecondName(db);
  refuseWhileUsed(db);
  if (await isSoundStore(db)) {
    await finishKilledSwap(db);
    return null;
  }
  const draft = newDraft(db);
  // The store is locked before it is read and until it is replaced, because a change in between would be lost.
  const held = await takeStore(db);
  try {
    const repaired = await repairSqlite(held!, draft, steps);
    if (repaired === null || (repaired.jobs === 0 && repaired.lost.length > 0)) {
      throw new QueueError(
        'store-corrupt',
        `no job could be recovered from ${db} (${repaired?.lost[0] ?? 'none of it is readable'}). The file was not changed`,
        'restore a backup: queuectl restore FILE',
      );
    }
    await withCopy(draft, steps.accept);
    syncFile(draft);
    return { db, ...repaired, kept: swap(draft, db, held!, { word: 'damaged', now: steps.now() }) };
  } finally {
    held?.unlock();
    removeDraft(draft);
  }
}
