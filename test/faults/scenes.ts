import { match, ok, strictEqual } from 'node:assert/strict';
import { type Result, type Sandbox, sandbox } from '../support/queuectl.ts';
import type { Figures } from './fault.ts';
import { roundDone, startProgress } from './progress.ts';

/** Runs a scene on a queue of its own, and throws if something is wrong. */
export type Scene = (box: Sandbox) => Promise<void>;

/** Plays the scenes in turn, one in each round. */
export async function playScenes(scenes: Record<string, Scene>, rounds: number): Promise<Figures> {
  const all = Object.entries(scenes);
  const violations: Figures['violations'] = [];
  startProgress(rounds);
  for (let round = 0; round < rounds; round++) {
    const [name, play] = all[round % all.length]!;
    const box = sandbox();
    try {
      await play(box);
    } catch (error) {
      violations.push({ kind: 'wrong', what: `${name}: ${(error as Error).message}` });
    } finally {
      await box.cleanup();
    }
    roundDone();
  }
  return { jobs: rounds, faults: rounds, violations, notes: all.map(([name]) => name).join(', ') };
}

/** Expects the exit code, an error line that matches `message`, no stack trace, and nothing on stdout. */
export function expectRefused({ code, stdout, stderr }: Result, expected: number, message: RegExp): void {
  strictEqual(code, expected, stderr);
  strictEqual(stdout, '');
  match(stderr.split('\n')[0]!, /^error: /);
  match(stderr.split('\n')[0]!, message);
  ok(!/^\s+at /m.test(stderr), stderr);
}
