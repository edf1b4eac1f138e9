import { rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { abandonedDrafts, abandonedParts, type Leftover, removeDrafts } from '../exec/drafts.ts';
import { namesIn } from '../exec/names-in.ts';
import { clearStrayOutputs, strayOutputs } from './stray-outputs.ts';
import { finishSwaps, hiddenNames } from './swap.ts';

const BALLAST = /^ballast\.(\d+)$/;
const OUTPUT = /^(?:out|err)\.(\d+)$/;

/** What processes that were killed left unfinished, in and beside a store; `epoch` null: it cannot be read. */
export function leftoversOf(db: string, epoch: string | null): Leftover[] {
  const attempts = `${db}.d/attempts`;
  return [
    ...abandonedDrafts(dirname(db)),
    ...abandonedDrafts(`${db}.d`),
    ...hiddenNames(db).map((name) => sized(join(dirname(db), name))),
    ...abandonedParts(`${db}.d`, BALLAST),
    ...namesIn(attempts).flatMap((name) => abandonedParts(join(attempts, name), OUTPUT)),
    ...(epoch === null ? [] : strayOutputs(`${db}.d`, epoch)).map(({ directory }) => sizedTree(directory)),
  ];
}

/** Only while the store is open: then nobody is replacing it. Drafts of outputs go when their attempt is settled. */
export function clearLeftovers(db: string, epoch: string): void {
  removeDrafts(dirname(db));
  removeDrafts(`${db}.d`);
  finishSwaps(db, true);
  for (const { path } of abandonedParts(`${db}.d`, BALLAST)) rmSync(path, { force: true });
  clearStrayOutputs(`${db}.d`, epoch);
}

function sized(path: string): Leftover {
  return { path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 };
}

function sizedTree(path: string): Leftover {
  const sizes = namesIn(path).map((name) => sized(join(path, name)).bytes);
  return { path, bytes: sizes.reduce((sum, one) => sum + one, 0) };
}
