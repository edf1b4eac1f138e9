import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { randomFrom } from '../support/random.ts';
import { createDisk, type Kept } from './disk.ts';
import { roundDone, startProgress } from './progress.ts';
import type { Op } from './syscalls.ts';

/** Lists the variants that are checked after every call. */
export const VARIANTS: Kept[] = ['none', 'all', 'some writes', 'some writes', 'some sectors', 'some sectors'];

export type Report = Extract<Op, { kind: 'append' }>;

interface Cut {
  files: Map<string, Uint8Array>;
  when: string;
}

interface Choice {
  seed: number;
  /** Returns the share of the states after this call that is chosen at random. */
  share(op: Op): number;
  reported(op: Report): void;
  /** Returns what was acknowledged so far. The same files are another state after another acknowledgement. */
  known(): string;
}

/** Yields what power cuts after each call of a trace would leave, each state once. */
export function* cuts(trace: Op[], root: string, choice: Choice): Generator<Cut> {
  const random = randomFrom(choice.seed);
  const disk = createDisk(root);
  const seen = new Set<string>();
  startProgress(trace.length);
  for (const [i, op] of trace.entries()) {
    roundDone();
    if (op.kind === 'append') choice.reported(op);
    else disk.apply(op);
    for (const kept of disk.restless ? variantsAfter(op) : (['all'] as const)) {
      const share = choice.share(op);
      if (share < 1 && random() > share) continue;
      const files = disk.cut(kept, random);
      const key = `${choice.known()} ${fingerprint(files)}`;
      if (seen.has(key)) continue;
      seen.add(key);
      yield { files, when: `after call ${i} of ${trace.length}, ${kept} kept` };
    }
  }
}

/** Returns the variants after a call. Few names are unsynced at a time, so all their combinations are tried. */
function variantsAfter({ kind }: Op): Kept[] {
  return kind === 'link' || kind === 'rename' ? Array(8).fill(VARIANTS).flat() : VARIANTS;
}

function fingerprint(files: Map<string, Uint8Array>): string {
  return [...files]
    .map(([path, data]) => `${path}:${data.length}:${Bun.hash(data)}`)
    .sort()
    .join();
}

/** Runs the work with a directory in memory if possible, because each state is written there anew. */
export async function withBench(work: (bench: string) => Promise<void>): Promise<void> {
  const bench = join(existsSync('/dev/shm') ? '/dev/shm' : '/tmp', `queuectl-state-${process.pid}`);
  mkdirSync(bench, { recursive: true });
  try {
    await work(bench);
  } finally {
    rmSync(bench, { recursive: true, force: true });
  }
}
