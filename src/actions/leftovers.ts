import { readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { abandonedDrafts, abandonedParts, type Leftover, removeDrafts } from '../exec/drafts.ts';
import { finishSwaps, hiddenNames } from './swap.ts';

const BALLAST = /^ballast\.(\d+)$/;
const OUTPUT = /^(?:out|err)\.(\d+)$/;

/** What processes that were killed left unfinished, in and beside a store. */
export function leftoversOf(db: string): Leftover[] {
  const attempts = `${db}.d/attempts`;
  return [
    ...abandonedDrafts(dirname(db)),
    ...hiddenNames(db).map((name) => sized(join(dirname(db), name))),
    ...abandonedParts(`${db}.d`, BALLAST),
    ...namesIn(attempts).flatMap((name) => abandonedParts(join(attempts, name), OUTPUT)),
  ];
}

/** Only while the store is open: then nobody is replacing it. Drafts of outputs go when their attempt is settled. */
export function clearLeftovers(db: string): void {
  removeDrafts(dirname(db));
  finishSwaps(db, true);
  for (const { path } of abandonedParts(`${db}.d`, BALLAST)) rmSync(path, { force: true });
}

function sized(path: string): Leftover {
  return { path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 };
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
