import type { ChildProcess } from 'node:child_process';
import { growingPause, pause } from '../core/time/clock.ts';

/** The first replacement of a child starts at once. The next pauses double, from the first to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** A child that ran for longer than this is replaced at once. */
const STEADY_RUN_MS = 10_000;

export interface KeptChild {
  /** Starts the child, or one that replaces it. */
  start(): ChildProcess | Promise<ChildProcess>;
  /** Is called when a child has ended, or could not be started. Returns whether it is to be replaced. */
  onEnd(how: string, code: number | null): boolean | Promise<boolean>;
  /** Is called after the pause before a replacement. Returns whether it is to be replaced still. */
  isStillWanted(): boolean | Promise<boolean>;
  /** Waits before a replacement. The supervisor has its own, because a stop order ends it. */
  pause?(ms: number): Promise<void>;
}

/** Starts a child, and replaces it when it dies, with a growing pause. Resolves when it has ended and is not replaced. */
export async function keepChildAlive(kept: KeptChild): Promise<void> {
  for (let failures = 0; ; failures++) {
    const startedAt = performance.now();
    const { code, how } = await endOf(kept);
    if (performance.now() - startedAt > STEADY_RUN_MS) failures = 0;
    if (!(await kept.onEnd(how, code))) return;
    const pauseMs = failures === 0 ? 0 : growingPause(failures - 1, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    await (kept.pause ?? pause)(pauseMs);
    if (!(await kept.isStillWanted())) return;
  }
}

/** Starts a child. Resolves when it has ended, to its exit code, if it has one, and how it ended. */
async function endOf({ start }: KeptChild): Promise<{ code: number | null; how: string }> {
  try {
    const child = await start();
    return await new Promise((resolve, reject) => {
      child.once('exit', (code, signal) => resolve({ code, how: signal ?? `exit code ${code}` }));
      child.once('error', reject);
    });
  } catch (error) {
    return { code: null, how: (error as Error).message };
  }
}
