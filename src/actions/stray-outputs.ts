import { lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDrafting } from '../exec/drafts.ts';
import { placesIn } from '../exec/living.ts';
import type { Place } from '../exec/place.ts';
import { processes } from '../exec/processes.ts';
import { peekStore } from '../store/open.ts';

const AGE_MS = 3_600_000;

/**
 * Outputs that a restore copied for a store which never took its place, because the restore was killed: of an epoch that
 * neither the store has nor one that is kept beside it, and without the record that an attempt itself leaves.
 */
export async function strayOutputs(db: string, epoch: string, now: number): Promise<Place[]> {
  const isStray = (place: Place): boolean =>
    !place.cookie.startsWith(`${epoch}-`) &&
    lstatSync(place.record, { throwIfNoEntry: false }) === undefined &&
    now - (lstatSync(place.directory, { throwIfNoEntry: false })?.mtimeMs ?? now) > AGE_MS;
  const found = placesIn(`${db}.d`).filter(isStray);
  // Most often there are none, and the rest is not looked at.
  if (found.length === 0 || isDrafting(dirname(db))) return [];
  const kept = await keptEpochs(db);
  const cookies = processes.cookies();
  if (kept === null || cookies === null) return [];
  return found.filter(({ cookie }) => !cookies.has(cookie) && !kept.has(cookie.split('-')[0]!));
}

/** Null: one of them cannot be read, so any could be its. */
async function keptEpochs(db: string): Promise<Set<string> | null> {
  const prefix = `${basename(db)}.before-`;
  const epochs = new Set<string>();
  for (const name of readdirSync(dirname(db))) {
    if (!name.startsWith(prefix) || !/^\w+Z(\.\d+)?$/.test(name.slice(prefix.length))) continue;
    try {
      const store = await peekStore(join(dirname(db), name));
      if (store === null) return null;
      epochs.add(store.epoch);
      await store.close();
    } catch {
      return null;
    }
  }
  return epochs;
}
