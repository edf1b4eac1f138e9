import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
import { orNull } from '../core/or-null.ts';
import { abandonedFiles, pidScope } from '../files/drafts.ts';
import { openAlone } from '../files/open-alone.ts';
import { renameToFreeName } from '../files/rename-to-free-name.ts';
import { removeAll } from './place.ts';
import type { StateDirectory } from './state-directory.ts';

/** More files than this are not kept. */
const MOST_KEPT = 64;
/** An older file is not used again, because `worker/sweep.ts` may remove the files of an attempt if all of them are a day old. */
const LONGEST_KEPT_MS = 3_600_000;
/** Matches the name of a kept file and captures the scope and the pid of the process that keeps it. */
const SPARE_NAME = /^([0-9a-f]{8})-(\d+)-[0-9a-f]+-\d+$/;

/**
 * Keeps the empty output files of ended attempts for the next attempts of this worker. Creating and deleting files is a
 * considerable part of a short job, and on some file systems becomes slower the more files were deleted.
 */
export interface SpareOutputs {
  /**
   * Keeps the output file of an ended attempt if it is empty. Then nobody finds it under its old name any more. Returns false if the
   * file is still there.
   */
  keep(output: string): boolean;
  /**
   * Makes a kept file the output file of an attempt, and opens it for appending. Returns null if the attempt has such a file, and
   * undefined if no kept file can be used. A file that was written to, or that any process has open, is deleted instead.
   */
  use(output: string): number | null | undefined;
  /** Deletes the kept files. */
  end(): void;
}

/** Returns the directory with the files that workers keep. Only the worker that put a file there uses it. */
export const sparesIn = ({ path }: StateDirectory): string => `${path}/spares`;

/** Returns null if the system or the file system lacks something that is needed. Also deletes what killed workers have kept. */
export function createSpareOutputs(state: StateDirectory): SpareOutputs | null {
  return orNull(() => {
    const directory = sparesIn(state);
    makeDirectory(directory);
    for (const { path } of abandonedFiles(directory, SPARE_NAME)) removeAll(path);
    const prefix = `${directory}/${pidScope()}-${process.pid}-${randomBytes(6).toString('hex')}-`;
    return canReuse(`${prefix}0`, `${prefix}1`) ? spareOutputs(prefix) : null;
  });
}

function makeDirectory(directory: string): void {
  crashPoint('before-spares');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  crashPoint('after-spares');
}

/** Tries it with a new file. */
function canReuse(first: string, second: string): boolean {
  closeSync(openSync(first, 'wx', 0o600));
  const file = openAlone(first, 0);
  const isRenamed = file !== null && renameToFreeName(first, second) === 'renamed';
  if (file !== null) closeSync(file);
  for (const path of [first, second]) removeAll(path);
  return isRenamed;
}

function spareOutputs(prefix: string): SpareOutputs {
  const kept: string[] = [];
  let number = 1;
  let isUsable = true;
  return {
    keep(output) {
      if (!isUsable || kept.length >= MOST_KEPT || !isEmptyFile(output)) return false;
      const path = `${prefix}${++number}`;
      // The directory may have been removed. Then no file is kept any more.
      isUsable = moveAway(output, path);
      if (isUsable) kept.push(path);
      return isUsable;
    },
    use(output) {
      for (let path = kept.pop(); path !== undefined; path = kept.pop()) {
        const file = openAlone(path, Date.now() - LONGEST_KEPT_MS);
        const result = file === null ? 'failed' : giveName(path, output);
        if (result === 'renamed') return file!;
        if (file !== null) closeSync(file);
        removeAll(path);
        if (result === 'taken') return null;
      }
      return undefined;
    },
    end() {
      isUsable = false;
      for (const path of kept.splice(0)) removeAll(path);
    },
  };
}

/** Tells whether a file is known to be empty. A command may have replaced its output file by anything else. */
function isEmptyFile(path: string): boolean {
  const stat = orNull(() => lstatSync(path, { throwIfNoEntry: false }));
  return stat?.isFile() === true && stat.size === 0;
}

function moveAway(output: string, path: string): boolean {
  try {
    crashPoint('before-keep-output');
    renameSync(output, path);
    crashPoint('after-keep-output');
    return true;
  } catch {
    return false;
  }
}

function giveName(path: string, output: string): ReturnType<typeof renameToFreeName> {
  crashPoint('before-use-spare');
  const result = renameToFreeName(path, output); // fault-control: gate-spare
  crashPoint('after-use-spare');
  return result;
}
