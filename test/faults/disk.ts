import { dirname } from 'node:path';
import type { Random } from '../../src/core/time/clock.ts';
import type { Op } from './syscalls.ts';

/** What a power cut keeps of unsynced data: nothing, everything, or a random selection of writes or sectors. */
export type Kept = 'none' | 'all' | 'some writes' | 'some sectors';

const SECTOR = 512;

type ContentChange = Extract<Op, { kind: 'write' | 'truncate' }>;
/** A journal entry of the file system: paths with their new file, or null if removed. A cut keeps all of it or nothing. */
type JournalEntry = { names: [path: string, file: File | 'directory' | null][]; done: number };

interface File {
  /** The bytes on stable storage. The buffer may be longer than `size`. */
  synced: Uint8Array;
  size: number;
  /** Changes that are not synced. */
  pending: ContentChange[];
}

/**
 * Models a disk under power cuts. The content of a file is safe after a sync of the file, and its name after a sync
 * of its directory. POSIX promises no more, whatever file systems do beyond it.
 */
export interface Disk {
  apply(op: Op): void;
  /** Whether some changes are not synced. If none are, all power cuts leave the same files. */
  readonly hasUnsynced: boolean;
  /** Returns the files with their contents after a power cut at this moment. */
  cut(kept: Kept, random: Random): Map<string, Uint8Array>;
}

export function createDisk(root: string): Disk {
  /** `names` is what processes see, and `safe` is what is on stable storage. */
  const names = new Map<string, File | 'directory'>();
  const safe = new Map<string, File | 'directory'>();
  let journal: JournalEntry[] = [];
  const fileAt = (path: string): File | null => {
    const found = names.get(path);
    return found === undefined || found === 'directory' ? null : found;
  };
  const changeNames = (done: number, ...changed: JournalEntry['names']): void => {
    const entry = { names: changed, done };
    applyNames(names, entry);
    journal.push(entry);
  };
  const sync = (path: string, begun: number): void => {
    const file = fileAt(path);
    if (file !== null) {
      for (const change of file.pending) if (change.done < begun) applyChange(file, change);
      file.pending = file.pending.filter((change) => change.done >= begun);
      return;
    }
    const isSynced = (entry: JournalEntry): boolean =>
      entry.done < begun && entry.names.some(([changed]) => dirname(changed) === path);
    for (const entry of journal.filter(isSynced)) applyNames(safe, entry);
    journal = journal.filter((entry) => !isSynced(entry));
  };
  return {
    apply(op) {
      switch (op.kind) {
        case 'create':
          if (names.has(op.path)) return;
          return changeNames(op.done, [
            op.path,
            op.directory ? 'directory' : { synced: new Uint8Array(0), size: 0, pending: [] },
          ]);
        case 'write':
        case 'truncate':
          fileAt(op.path)?.pending.push(op);
          return;
        case 'unlink':
          return changeNames(op.done, [op.path, null]);
        case 'rename':
          return changeNames(op.done, [op.path, null], [op.to, names.get(op.path) ?? null]);
        case 'link':
          return changeNames(op.done, [op.to, names.get(op.path) ?? null]);
        case 'sync':
          return sync(op.path, op.begun);
      }
    },
    get hasUnsynced() {
      return (
        journal.length > 0 || [...names.values()].some((one) => one !== 'directory' && one.pending.length > 0)
      );
    },
    cut(kept, random) {
      const found = new Map(safe);
      for (const entry of journal) if (isKept(kept, random)) applyNames(found, entry);
      const isReachable = (path: string): boolean =>
        path === root || (found.has(path) && isReachable(dirname(path)));
      const contents = new Map<string, Uint8Array>();
      for (const [path, file] of found) {
        if (file !== 'directory' && isReachable(path))
          contents.set(path, contentAfterCut(file, kept, random));
      }
      return contents;
    },
  };
}

function applyNames(names: Map<string, File | 'directory'>, { names: changed }: JournalEntry): void {
  for (const [path, file] of changed) {
    if (file === null) names.delete(path);
    else names.set(path, file);
  }
}

function isKept(kept: Kept, random: Random): boolean {
  return kept === 'all' || (kept !== 'none' && random() < 0.5);
}

function contentAfterCut(file: File, kept: Kept, random: Random): Uint8Array {
  const copy: File = { synced: file.synced.slice(0, file.size), size: file.size, pending: [] };
  for (const change of file.pending) {
    if (kept !== 'some sectors' || change.kind === 'truncate') {
      if (isKept(kept, random)) applyChange(copy, change);
    } else {
      for (const part of sectors(change)) if (random() < 0.5) applyChange(copy, part);
    }
  }
  return copy.synced.subarray(0, copy.size);
}

/** Splits a write into sectors, because a disk writes whole sectors. */
function* sectors(change: Extract<Op, { kind: 'write' }>): Generator<ContentChange> {
  const { at, data } = change;
  for (let from = 0; from < data.length; ) {
    const to = Math.min(data.length, from + SECTOR - ((at + from) % SECTOR));
    yield { ...change, at: at + from, data: data.subarray(from, to) };
    from = to;
  }
}

function applyChange(file: File, change: ContentChange): void {
  const size = change.kind === 'truncate' ? change.size : Math.max(file.size, change.at + change.data.length);
  if (size > file.synced.length) {
    const larger = new Uint8Array(Math.max(size, file.synced.length * 2));
    larger.set(file.synced.subarray(0, file.size));
    file.synced = larger;
  }
  if (change.kind === 'truncate') file.synced.fill(0, size, Math.max(size, file.size));
  else file.synced.set(change.data, change.at);
  file.size = size;
}
