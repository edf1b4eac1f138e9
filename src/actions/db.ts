import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { QueueError } from '../core/errors.ts';
import { resolveSettings } from '../core/stored-settings.ts';
import { newDraft, removeDraft } from '../exec/drafts.ts';
import { syncFile } from '../exec/durable.ts';
import { epochOf } from '../exec/kept-output.ts';
import { checkOwner, checkStore, isSound, missingStore, type Repaired, repairStore } from '../store/open.ts';
import type { App } from './app.ts';
import { loser } from './lose.ts';
import { refuseLiving, runningIn } from './refuse-living.ts';
import { refuseLook, refuseSecondName } from './store-files.ts';
import { finishKilledSwap, refuseWhileUsed, swap, takeStore } from './swap.ts';

export interface Check {
  db: string;
  ok: boolean;
  problems: string[];
}

/** `fix`: the command that helps; null where nothing is wrong. */
export async function checkDatabase(location: string): Promise<Check & { fix: string | null }> {
  await refuseLook(location);
  const { path, problems, invalid } = await checkStore(location);
  const unset = invalid.map(({ key }) => `queuectl config unset ${key}`).join('; ');
  return {
    ...{ db: path, ok: problems.length + invalid.length === 0 },
    problems: [...problems, ...invalid.map(({ problem }) => problem)],
    fix:
      problems.length > 0 ? 'queuectl db repair, or restore a backup with queuectl restore' : unset || null,
  };
}

export interface Repair extends Repaired {
  db: string;
  /** Where the damaged file is now. */
  kept: string | null;
}

/**
 * Puts what can be saved of a damaged store in its place, and keeps the damaged file. Where no job can be saved, nothing is
 * changed: an empty queue is no repair. Null: nothing is wrong with it, so it stays as it is.
 */
export async function repairDatabase(
  app: Pick<App, 'clock' | 'random'>,
  location: string,
  anyOwner: boolean,
): Promise<Repair | null> {
  if (!existsSync(location)) throw await missingStore(resolve(location));
  const db = realpathSync(location);
  await checkOwner(resolve(location), anyOwner);
  await refuseSecondName(db);
  refuseWhileUsed(db);
  if (await isSound(db)) {
    await finishKilledSwap(db);
    return null;
  }
  const draft = newDraft(db);
  // From before it is read until it is replaced: what came in between would be in neither.
  const held = await takeStore(db);
  try {
    const repaired = await repairStore(held!, draft, epochOf(`${db}.d`), (stored) =>
      loser(resolveSettings(stored), app.clock.now(), app.random),
    );
    if (repaired === null || (repaired.jobs === 0 && repaired.lost.length > 0)) {
      throw new QueueError(
        'store-corrupt',
        `no job could be recovered from ${db} (${repaired?.lost[0] ?? 'none of it is readable'}). The file was not changed`,
        'restore a backup: queuectl restore FILE',
      );
    }
    refuseLiving(`${db}.d`, await runningIn(draft));
    syncFile(draft);
    return { db, ...repaired, kept: swap(draft, db, held!, { word: 'damaged', now: app.clock.now() }) };
  } finally {
    held?.letGo();
    removeDraft(draft);
  }
}
