import { closeSync, linkSync, mkdirSync, renameSync, unlinkSync } from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
import { abandonedFiles, pidScope } from '../files/drafts.ts';
import { canOpenAlone, openAlone } from '../files/open-alone.ts';
import type { StateDirectory } from './state-directory.ts';

/** More files than this are not kept. */
const MOST_KEPT = 64;
/** An older file is not used again, because a sweep goes by the age of the files of an attempt. */
const LONGEST_KEPT_MS = 3_600_000;
/** Matches the name of a kept file and captures the scope and the pid of the process that keeps it. */
const SPARE_NAME = /^([0-9a-f]{8})-(\d+)-\d+$/;

/**
 * Keeps the empty output files of ended attempts for the next attempts of this worker. Creating and deleting files is a
 * considerable part of a short job, and on some file systems becomes slower the more files were deleted.
 */
export interface SpareOutputs {
  /** Keeps the output file of an ended attempt, which then has no such file any more. Returns false if it is to be deleted. */
  keep(output: string): boolean;
  /**
   * Makes a kept file the output file of an attempt, and opens it for appending. Returns null if the attempt has such a file, and
   * undefined if no kept file can be used: it has been written to, or any process has it open.
   */
  use(output: string): number | null | undefined;
  /** Deletes the kept files. */
  end(): void;
}

/** Returns the directory with the files that workers keep. Only the process that put a file there uses it. */
export const sparesIn = ({ path }: StateDirectory): string => `${path}/spares`;

/** Two workers of one process must not use the same names. */
let lastNumber = 0;

/** Also deletes what killed workers have kept. */
export function createSpareOutputs(state: StateDirectory): SpareOutputs {
  const directory = sparesIn(state);
  const prefix = `${directory}/${pidScope()}-${process.pid}-`;
  const kept: string[] = [];
  let isUsable = canOpenAlone() && makeDirectory(directory);
  for (const { path } of abandonedFiles(directory, SPARE_NAME)) remove(path);
  return {
    keep(output) {
      if (!isUsable || kept.length >= MOST_KEPT) return false;
      const path = `${prefix}${++lastNumber}`;
      keepAs(output, path);
      kept.push(path);
      return true;
    },
    use(output) {
      for (let path = kept.pop(); path !== undefined; path = kept.pop()) {
        const file = openAlone(path, Date.now() - LONGEST_KEPT_MS);
        const result = file === null ? undefined : nameKept(path, file, output);
        remove(path);
        if (result !== undefined) return result;
      }
      return undefined;
    },
    end() {
      isUsable = false;
      for (const path of kept.splice(0)) remove(path);
    },
  };
}

/** Returns false if the files cannot be kept there. */
function makeDirectory(directory: string): boolean {
  try {
    crashPoint('before-spares');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    crashPoint('after-spares');
    return true;
  } catch {
    return false;
  }
}

/** Gives an output file another name, so that nobody who looks for the output of its attempt finds it any more. */
function keepAs(output: string, path: string): void {
  crashPoint('before-keep-output');
  renameSync(output, path);
  crashPoint('after-keep-output');
}

/** Gives an open file its new name. Returns null if that is taken, and undefined if it cannot be given. */
function nameKept(path: string, file: number, output: string): number | null | undefined {
  try {
    crashPoint('before-use-spare');
    // Unlike a rename, a link never replaces a file that another process has made in between.
    linkSync(path, output); // fault-control: gate-spare
    crashPoint('after-use-spare');
    return file;
  } catch (error) {
    closeSync(file);
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? null : undefined;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Somebody has removed it, or the disk is not writable. An empty file does no harm.
  }
}
