import type { Control, Patch } from './control.ts';
import { killedAfterSpawn } from './f03-spawn.ts';
import { frozenBeforeSettlement, frozenBeforeStart, frozenWorker } from './f07-frozen-worker.ts';
import { busyStorm } from './f11-busy.ts';
import { stubbornJobs } from './f27-stubborn-jobs.ts';
import { blockedLoop } from './f32-broken-worker.ts';

/** Holds recovery between its look at the record and its look at the process: a job that ends just then is met often. */
const SLOW_LOOK: Patch = {
  file: 'exec/adopt.ts',
  from: 'const before = readRecord(place);',
  to: 'const before = readRecord(place); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);',
};

/** What Oban, River and their like do: elapsed time alone decides. */
const GIVEN_UP: Patch = {
  file: 'worker/attempt.ts',
  from: "    case 'alive': {\n      const exit = untilOver(place)",
  to: "    case 'alive': {\n      if (process.pid > 0) return { outcome: { why: 'lost' } };\n      const exit = untilOver(place)",
};

/** Each takes one safeguard away. */
export const CONTROLS: Control[] = [
  {
    name: 'a settlement without its token (F7c)',
    patches: [
      {
        file: 'store/sqlite/sql.ts',
        from: "bytes = bytes + ?\n  WHERE number = ? AND token = ? AND phase = 'running'",
        to: 'bytes = bytes + ?\n  WHERE number = ? AND ? > 0',
      },
    ],
    fault: frozenBeforeSettlement,
    scale: 4,
    found: ['rewritten', 'stale'],
  },
  {
    name: 'no gate (F7b)',
    patches: [
      { file: 'exec/frame.ts', from: '\nset -C\n', to: '\n' },
      {
        file: 'exec/start.ts',
        from: "if (!makePlace(place)) return { kind: 'gate-lost' };",
        to: 'makePlace(place);',
      },
      {
        file: 'exec/start.ts',
        from: "openSync(place.output, 'ax', 0o600)",
        to: "openSync(place.output, 'a', 0o600)",
      },
    ],
    fault: frozenBeforeStart,
    scale: 12,
    found: ['twice', 'overlap'],
  },
  {
    name: 'the record read before the process (F3)',
    patches: [
      SLOW_LOOK,
      {
        file: 'exec/adopt.ts',
        from: 'return fromRecord(readRecord(place));',
        to: 'return fromRecord(before);',
      },
    ],
    fault: killedAfterSpawn,
    scale: 16,
    found: ['twice'],
  },
  {
    name: 'the same slow look, in the right order (F3)',
    patches: [SLOW_LOOK],
    fault: killedAfterSpawn,
    scale: 16,
    found: [],
  },
  {
    name: 'a live job of a silent worker is given up instead of adopted (F7)',
    patches: [GIVEN_UP],
    fault: frozenWorker,
    scale: 4,
    found: ['twice', 'overlap'],
  },
  {
    name: 'the same under a blocked event loop (F33)',
    patches: [GIVEN_UP],
    fault: blockedLoop,
    scale: 4,
    found: ['twice', 'overlap'],
  },
  {
    name: 'only the group of a job is ended (F27)',
    patches: [
      {
        file: 'exec/kill.ts',
        from: 'return processes.find(target.cookie, target.group);',
        to: 'return processes.find(target.cookie, target.group).filter((one) => one.group === target.group);',
      },
    ],
    fault: stubbornJobs,
    scale: 8,
    found: ['orphan'],
  },
  {
    name: 'a busy database is not tried again (F11)',
    patches: [
      {
        file: 'store/sqlite/connection.ts',
        from: 'if (!isBusy(error)) throw',
        to: 'if (error) throw',
      },
    ],
    fault: busyStorm,
    scale: 100,
    found: ['invariant', 'lost'],
  },
];
