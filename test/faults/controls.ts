import type { Control } from './control.ts';
import { killedAfterSpawn } from './f03-spawn.ts';
import { frozenBeforeSettlement, frozenBeforeStart, frozenWorker } from './f07-frozen-worker.ts';
import { clockSteps } from './f09-clock.ts';
import { busyStorm } from './f11-busy.ts';
import { powerCut } from './f13-power-cut.ts';
import { restoreCut } from './f13-restore-cut.ts';
import { stubbornJobs } from './f27-stubborn-jobs.ts';
import { blockedLoop } from './f32-broken-worker.ts';
import { namespaces } from './f47-namespaces.ts';
import { stoppedAdopters } from './f48-stopped-adopters.ts';
import { stopOfEverything } from './f49-signal-everything.ts';
import { stopMeetsStart } from './f50-stop-meets-start.ts';
import { endedBeforeCancel, endedBeforeForce, endedBeforeTimeout } from './f51-ended-by-itself.ts';
import { plainProgramsEnd } from './f51-plain-programs.ts';
import type { Patch } from './patched.ts';

/** Holds recovery between its look at the record and its look at the process: a job that ends just then is met often. */
const SLOW_LOOK: Patch = {
  file: 'exec/adopt.ts',
  from: 'const before = readRecord(place);',
  to: 'const before = readRecord(place); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);',
};

/** What Oban, River and their like do: elapsed time alone decides. */
const GIVEN_UP: Patch = {
  file: 'worker/adopting.ts',
  from: "    case 'alive': {\n      const exit = untilOver(place)",
  to: "    case 'alive': {\n      if (process.pid > 0) return { outcome: { why: 'lost' } };\n      const exit = untilOver(place)",
};

const NOT_TRIED_AGAIN: Patch = {
  file: 'store/sqlite/connection.ts',
  from: 'if (!isBusy(error) ||',
  to: 'if (error ||',
};

/** As most programs wait for a lock. Our own loop does a whole transaction again, so under it a DEFERRED one does no harm. */
const WAITS_IN_SQLITE: Patch[] = [
  NOT_TRIED_AGAIN,
  {
    file: 'store/sqlite/connection.ts',
    from: 'const BUSY_TIMEOUT_MS = 5;',
    to: 'const BUSY_TIMEOUT_MS = 30_000;',
  },
];

/** It reads first and finds then that somebody else has written: no waiting helps. */
const DEFERRED: Patch = {
  file: 'store/sqlite/connection.ts',
  from: "transaction(db, 'BEGIN IMMEDIATE', () => {",
  to: "transaction(db, 'BEGIN', () => {",
};

/** The reason for an end is taken for its cause, whatever the command did by itself. */
const ENDED_AS_MEANT: Patch[] = [
  { file: 'worker/ending.ts', from: "if (hasEnded()) return 'had-ended';", to: '' },
  {
    file: 'worker/ending.ts',
    from: "if (!(await freezeCommand(target, hasEnded))) return 'had-ended';",
    to: 'await freezeCommand(target, hasEnded);',
  },
  {
    file: 'worker/judging.ts',
    from: "reason === 'stopped' && exit?.code === 0 ? { why: 'exited', code: 0 } : { why: reason }",
    to: 'exit === undefined ? { why: reason } : { why: reason }',
  },
];

/** A worker that wakes may hear of the ends of its jobs or of the requests to end them first: here it is the requests. */
const LATE_EXIT: Patch[] = [
  {
    file: 'exec/start.ts',
    from: "finish(exitFor(place, code, signal ?? 'SIGKILL'));",
    to: "setTimeout(() => finish(exitFor(place, code, signal ?? 'SIGKILL')), 1500);",
  },
  { file: 'exec/start.ts', from: 'const WATCHDOG_MS = 5000;', to: 'const WATCHDOG_MS = 500_000;' },
];

/** Each takes one safeguard away. */
export const CONTROLS: Control[] = [
  {
    name: 'a settlement without its token (F7c)',
    patches: [
      {
        file: 'store/sqlite/sql/claims.ts',
        from: "bytes = bytes + ?\n  WHERE number = ? AND token = ? AND phase = 'running'",
        to: 'bytes = bytes + ?\n  WHERE number = ? AND ? > 0',
      },
    ],
    fault: frozenBeforeSettlement,
    scale: 4,
    found: ['rewritten', 'stale'],
  },
  {
    name: 'the same while the job still runs, by one that lost it (F7c)',
    patches: [
      // Time for the one that lost it to come first.
      {
        file: 'worker/adopting.ts',
        from: 'exit: Promise.resolve(seen)',
        to: 'exit: new Promise<typeof seen>((done) => setTimeout(() => done(seen), 500))',
      },
      {
        file: 'store/sqlite/sql/claims.ts',
        from: "bytes = bytes + ?\n  WHERE number = ? AND token = ? AND phase = 'running'",
        to: "bytes = bytes + ?\n  WHERE number = ? AND ? > 0 AND phase = 'running'",
      },
    ],
    fault: frozenBeforeSettlement,
    scale: 8,
    found: ['stale'],
  },
  {
    name: 'an adoption that keeps the token (F3)',
    patches: [
      {
        file: 'store/sqlite/sql/claims.ts',
        from: 'UPDATE job SET token = token + 1, worker_id = ? WHERE',
        to: 'UPDATE job SET worker_id = ? WHERE',
      },
      {
        file: 'store/sqlite/sql/claims.ts',
        from: 'UPDATE attempt SET token = token + 1, worker_id = ? WHERE',
        to: 'UPDATE attempt SET worker_id = ? WHERE',
      },
    ],
    fault: killedAfterSpawn,
    scale: 4,
    found: ['stale'],
  },
  {
    name: 'nobody takes over what a dead worker held (F3)',
    patches: [
      {
        file: 'worker/recovery.ts',
        from: 'const running = await app.store.running();\n  const workers',
        to: 'const running: ClaimedJob[] = [];\n  const workers',
      },
    ],
    fault: killedAfterSpawn,
    scale: 1,
    found: ['late'],
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
  // A heartbeat beats on the loop of its worker: one that is blocked loses its claims, which is safe only because they
  // are adopted. So it is the adoption that is taken out here, and not a heartbeat thread that there is none of.
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
        from: 'const found = await scan(target);',
        to: 'const found = (await scan(target)).filter((one) => one.group === target.group);',
      },
    ],
    fault: stubbornJobs,
    scale: 8,
    found: ['orphan'],
  },
  {
    name: 'a busy database is not tried again (F11)',
    patches: [NOT_TRIED_AGAIN],
    fault: busyStorm,
    scale: 100,
    found: ['invariant', 'lost'],
  },
  {
    name: 'DEFERRED transactions, SQLite waiting by itself (F11)',
    patches: [...WAITS_IN_SQLITE, DEFERRED],
    fault: busyStorm,
    scale: 100,
    found: ['invariant', 'lost'],
  },
  {
    name: 'IMMEDIATE ones, SQLite waiting by itself (F11)',
    patches: WAITS_IN_SQLITE,
    fault: busyStorm,
    scale: 100,
    found: [],
  },
  {
    name: 'leases by the wall clock (F9)',
    patches: [
      {
        file: 'worker/liveness.ts',
        from: "return presence(worker, input.host) === 'gone';",
        to: 'return Date.now() - worker.lastHeartbeat > input.leaseMs;',
      },
    ],
    fault: clockSteps,
    scale: clockSteps.small,
    found: ['lease expired'],
  },
  {
    name: 'synchronous=NORMAL (F13)',
    patches: [
      {
        file: 'store/sqlite/connection.ts',
        from: 'PRAGMA synchronous = FULL',
        to: 'PRAGMA synchronous = NORMAL',
      },
    ],
    fault: powerCut,
    scale: powerCut.small,
    found: ['lost'],
  },
  {
    name: 'a store whose directories are not synced (F13)',
    patches: [
      {
        file: 'store/sqlite/open.ts',
        from: 'if (stat.size === 0) syncDirectories(path);',
        to: '',
      },
    ],
    fault: powerCut,
    scale: powerCut.small,
    found: ['lost'],
  },
  {
    name: 'a restore that replaces the store before its second name is safe (F13b)',
    patches: [
      {
        file: 'store/sqlite/care/swap.ts',
        from: 'sync(dirname(db));\n  refuseReplaced(db, held);\n  renameSync(draft, db);',
        to: 'renameSync(draft, db);',
      },
    ],
    fault: restoreCut,
    scale: restoreCut.small,
    found: ['lost'],
  },
  {
    name: 'what cannot be seen is taken for dead (F47)',
    patches: [
      {
        file: 'exec/lifeline.ts',
        from: 'return isHeld(join(place.state.lifelines, record.lifeline));',
        to: 'return false;',
      },
    ],
    fault: namespaces,
    scale: 1,
    found: ['twice', 'overlap'],
  },
  {
    name: 'an attempt is judged without waiting for its own stop (F49)',
    patches: [
      {
        file: 'worker/judging.ts',
        from: '(stopped || (await stopsSoon(context)))',
        to: 'stopped',
      },
    ],
    fault: stopOfEverything,
    scale: 6,
    found: ['charged'],
  },
  {
    name: 'a frame that notes no signal (F49)',
    patches: [
      { file: 'exec/frame.ts', from: "trap 'set -b' HUP INT TERM", to: 'trap : HUP INT TERM' },
      { file: 'worker/judging.ts', from: 'const STOP_SPREAD_MS = 100;', to: 'const STOP_SPREAD_MS = -1e9;' },
    ],
    fault: stopOfEverything,
    scale: 6,
    found: ['charged'],
  },
  {
    name: 'a timeout counts though the command had ended (F51)',
    patches: [...ENDED_AS_MEANT, ...LATE_EXIT],
    fault: endedBeforeTimeout,
    scale: 2,
    found: ['misjudged'],
  },
  {
    name: 'a forced stop counts though the command had ended (F51b)',
    patches: ENDED_AS_MEANT,
    fault: endedBeforeForce,
    scale: 6,
    found: ['twice'],
  },
  {
    name: 'only the shell around a program is looked at (F51d)',
    patches: [
      // The shell lingers after its program, so that a stop often meets it then.
      {
        file: 'exec/frame.ts',
        from: 'const PLAIN_END = `; exit $?)',
        to: 'const PLAIN_END = `; set -- $?; sleep 0.05; exit $1)',
      },
      {
        file: 'exec/freeze.ts',
        from: '(last !== null && last === before)',
        to: 'last !== null',
      },
      { file: 'exec/freeze.ts', from: '    parent = child;', to: '    return frozen;' },
    ],
    fault: plainProgramsEnd,
    scale: 4,
    found: ['twice'],
  },
  {
    name: 'a cancel counts though the command had ended (F51c)',
    patches: [...ENDED_AS_MEANT, ...LATE_EXIT],
    fault: endedBeforeCancel,
    scale: 2,
    found: ['misjudged'],
  },
  {
    name: 'a worker that leaves without a last look for jobs that were handed to it (F48)',
    patches: [
      { file: 'worker/leaving.ts', from: 'if (!worker.lookedLast) return worker.loops.beat.now();', to: '' },
      { file: 'worker/leaving.ts', from: '!(worker.siblingsStop && ', to: '!(!worker.siblingsStop && ' },
      { file: 'store/sqlite/sql/workers.ts', from: 'AND heir.draining = 0 AND heir.stop_order = 0', to: '' },
      // Time for the others to hand over to one that is about to leave.
      {
        file: 'worker/leaving.ts',
        from: 'await app.store.unregister(id);',
        to: 'await new Promise((done) => setTimeout(done, 500)); await app.store.unregister(id);',
      },
    ],
    fault: stoppedAdopters,
    scale: stoppedAdopters.small,
    found: ['left'],
  },
  {
    name: 'a supervisor that ignores a stop given while it was starting (F50)',
    patches: [{ file: 'worker/supervisor.ts', from: 'startedBefore(options.start, lastStop)', to: 'false' }],
    fault: stopMeetsStart,
    scale: 8,
    found: ['missed'],
  },
  {
    name: 'a supervisor that compares a stop with the age of its process alone (F50)',
    patches: [
      { file: 'exec/started.ts', from: 'programs?.pidNamespace === processes.pidNamespace()', to: 'false' },
    ],
    fault: stopMeetsStart,
    scale: 16,
    found: ['missed', 'poisoned'],
  },
];
