import { stateDirectory } from '../state/state-directory.ts';
import type { OtherHostFiles } from '../store/contract/care.ts';

/** The attempts of one host of whose output only the beginning and the end were copied. */
export interface PartialOutputs {
  /** The host that has the output files, or null if it is unknown. */
  host: string | null;
  /** The directory of the files on that host. */
  directory: string | null;
  attempts: number;
}

/** Counts the attempts with gaps in their output by the hosts that have their files. */
export function partialOutputCounter() {
  const seen = new Set<number>();
  const byHost = new Map<string, PartialOutputs>();
  return {
    add(attempt: number, file: OtherHostFiles | null): void {
      // Each stream of an attempt can have a gap.
      if (seen.has(attempt)) return;
      seen.add(attempt);
      const directory = file === null ? null : stateDirectory(file.directory).attempts;
      const key = JSON.stringify([file?.host, directory]);
      const counted = byHost.get(key) ?? { host: file?.host ?? null, directory, attempts: 0 };
      counted.attempts++;
      byHost.set(key, counted);
    },
    counts: (): PartialOutputs[] => [...byHost.values()],
  };
}
