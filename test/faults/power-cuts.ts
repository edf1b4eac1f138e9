import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { randomFrom } from '../support/random.ts';
import { createDisk, type Kept } from './disk.ts';
import { roundDone, startProgress } from './progress.ts';
import type { Op } from './syscalls.ts';

/** Lists what power cuts after a call keep. The random variants are tried twice. */
export const VARIANTS: Kept[] = ['none', 'all', 'some writes', 'some writes', 'some sectors', 'some sectors'];

export type Append = Extract<Op, { kind: 'append' }>;

interface Cut {
  files: Map<string, Uint8Array>;
  when: string;
}

interface CutOptions {
  seed: number;
  /** Returns the share of the states after this call that is chosen at random, from 0 to 1. */
  share(op: Op): number;
  onAppend(op: Append): void;
  /** Returns a text that changes with each acknowledgement. After a change, the same files are checked again. */
  known(): string;
}

/** Yields the files that power cuts after the calls of a trace would leave: all states or a share, and none twice. */
export function* cuts(trace: Op[], root: string, options: CutOptions): Generator<Cut> {
  const random = randomFrom(options.seed);
  const disk = createDisk(root);
  const seen = new Set<string>();
  startProgress(trace.length);
  for (const [i, op] of trace.entries()) {
    roundDone();
    if (op.kind === 'append') options.onAppend(op);
    else disk.apply(op);
    for (const kept of disk.hasUnsynced ? variantsAfter(op) : (['all'] as const)) {
      const share = options.share(op);
      if (share < 1 && random() > share) continue;
      const files = disk.cut(kept, random);
      const key = `${options.known()} ${fingerprint(files)}`;
      if (seen.has(key)) continue;
      seen.add(key);
      yield { files, when: `after call ${i} of ${trace.length}, ${kept} kept` };
    }
  }
}

/** Returns the variants after a call. Those of a link or rename are repeated, so that most combinations occur. */
function variantsAfter({ kind }: Op): Kept[] {
  return kind === 'link' || kind === 'rename' ? Array(8).fill(VARIANTS).flat() : VARIANTS;
}

function fingerprint(files: Map<string, Uint8Array>): string {
  return [...files]
    .map(([path, data]) => `${path}:${data.length}:${Bun.hash(data)}`)
    .sort()
    .join();
}

/** Runs `work` with a temporary directory, in memory if possible, because every state is written to it. */
export async function withScratch(work: (scratch: string) => Promise<void>): Promise<void> {
  const scratch = join(existsSync('/dev/shm') ? '/dev/shm' : '/tmp', `queuectl-state-${process.pid}`);
  mkdirSync(scratch, { recursive: true });
  try {
    await work(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
