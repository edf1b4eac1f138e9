import type { Control } from './control.ts';
import { killedAfterSpawn } from './f03-killed-worker.ts';
import { frozenBeforeSettlement, frozenBeforeStart, frozenWorker } from './f07-frozen-worker.ts';
import { clockSteps } from './f09-clock.ts';
import { busyStorm } from './f11-busy.ts';
import { powerCut } from './f13-power-cut.ts';
import { stubbornJobs } from './f27-stubborn-jobs.ts';
import { blockedLoop } from './f32-broken-worker.ts';
import { postgresStorm } from './f38-postgres-storm.ts';
import { partitions } from './f40-partitions.ts';
import { pooler } from './f41-pgbouncer.ts';
import { namespaces } from './f47-namespaces.ts';
import { stoppedAdopters } from './f48-stopped-adopters.ts';
import { stopOfEverything } from './f49-signal-everything.ts';
import { stopMeetsStart } from './f50-stop-meets-start.ts';
import { endedBeforeCancel, endedBeforeForce, endedBeforeTimeout } from './f51-ended-by-itself.ts';
import { patchAt, patchWithin } from './marks.ts';
import type { Patch } from './patched-source.ts';

/** Delays recovery between its checks of the record and of the process, so that jobs often end in between. */
const SLOW_CHECK: Patch = patchAt(
  'first-record',
  'const record = readRecord(files); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);',
);

/** Lets elapsed time alone decide that an attempt is lost, as Oban and River do. */
const LOST_BY_TIME: Patch = patchWithin(
  'adopt-alive',
  'const exit',
  "if (process.pid > 0) return { outcome: { why: 'lost' } }; const exit",
);

const NO_BUSY_RETRY: Patch = patchWithin('busy-retry', 'if (!isBusy(error)) throw', 'if (error) throw');

/**
 * Waits for a lock inside SQLite, as most programs do. queuectl's own retry loop is removed, because it repeats the whole
 * transaction and would hide the harm of `DEFERRED` (below).
 */
const WAITS_IN_SQLITE: Patch[] = [NO_BUSY_RETRY, patchAt('busy-timeout', 'const BUSY_TIMEOUT_MS = 30_000;')];

/** Takes the write lock only at the first write. If another process wrote since the first read, waiting cannot help. */
const DEFERRED: Patch = patchAt('begin', "db.exec(begin === 'BEGIN IMMEDIATE' ? 'BEGIN' : begin);");

/** Treats the request to end an attempt as the cause of its end, even if the command ended by itself. */
const BLAMES_REQUEST: Patch[] = [
  patchAt('ended-before', ''),
  patchAt('ended-marked', ''),
  patchWithin('success-on-stop', "reason === 'stopped' && exit?.code === 0", 'exit === undefined'),
];

/** Makes a worker that was frozen handle requests to end its jobs before the exits of these jobs. */
const LATE_EXIT: Patch[] = [
  patchAt('exit-event', "setTimeout(() => finish(exitFor(files, code, signal ?? 'SIGKILL')), 1500);"),
  patchAt('watchdog', 'const WATCHDOG_MS = 500_000;'),
];

/** Starts a command without asking the store again whether the claim still holds. */
const ASKS_NEVER: Patch = patchWithin('sure-claim', '<= settings', '<= 1e9 + settings');

/** Lists the controls. Each removes a safeguard, or shows that a patch of another control is harmless alone. */
export const CONTROLS: Control[] = [
  {
    name: 'a settlement checks neither its token nor that its job is running (F7c)',
    patches: [
      patchWithin(
        'settle-token',
        "WHERE number = ? AND token = ? AND phase = 'running'",
        'WHERE number = ? AND ? > 0',
      ),
    ],
    fault: frozenBeforeSettlement,
    scale: 4,
    expected: ['rewritten', 'stale'],
  },
  {
    name: 'a settlement checks that its job is running, but not its token (F7c)',
    patches: [
      // The delay lets the worker that lost the job settle it first.
      patchWithin(
        'adopt-ended',
        'exit: Promise.resolve(seen)',
        'exit: new Promise<typeof seen>((done) => setTimeout(() => done(seen), 500))',
      ),
      patchWithin('settle-token', 'AND token = ?', 'AND ? > 0'),
    ],
    fault: frozenBeforeSettlement,
    scale: 8,
    expected: ['stale'],
  },
  {
    name: 'an adoption keeps the old token (F3)',
    patches: [
      patchWithin('adopt-token', 'token = token + 1, ', ''),
      patchWithin('adopt-attempt-token', 'token = token + 1, ', ''),
    ],
    fault: killedAfterSpawn,
    scale: 4,
    expected: ['stale'],
  },
  {
    name: 'jobs of a dead worker are not adopted (F3)',
    patches: [patchAt('recovered-jobs', 'const running: ClaimedJob[] = [];')],
    fault: killedAfterSpawn,
    scale: 1,
    expected: ['late'],
  },
  {
    name: 'a command starts without passing the gate (F7b)',
    patches: [
      patchWithin('frame', '\nset -C\n', '\n'),
      patchWithin('gate-output', "'ax'", "'a'"),
      ASKS_NEVER,
    ],
    fault: frozenBeforeStart,
    scale: 12,
    expected: ['twice', 'overlap'],
  },
  {
    name: 'recovery does not read the record again after it looked for the process (F3)',
    patches: [SLOW_CHECK, patchAt('last-record', 'return fromRecord(record);')],
    fault: killedAfterSpawn,
    scale: 16,
    expected: ['twice'],
  },
  {
    name: 'recovery is slow, but reads the record again (F3)',
    patches: [SLOW_CHECK],
    fault: killedAfterSpawn,
    scale: 16,
    expected: [],
  },
  {
    name: 'a live job of a worker without heartbeats counts as lost (F7)',
    patches: [LOST_BY_TIME],
    fault: frozenWorker,
    scale: 4,
    expected: ['twice', 'overlap'],
  },
  // A worker sends its heartbeats from its event loop, so it loses its claims if the loop is blocked. That is safe only
  // because its jobs are adopted. This control removes the adoption.
  {
    name: 'a live job of a worker with a blocked event loop counts as lost (F33)',
    patches: [LOST_BY_TIME],
    fault: blockedLoop,
    scale: 4,
    expected: ['twice', 'overlap'],
  },
  {
    name: 'only the process group of a job is ended (F27)',
    patches: [
      patchAt('end-scan', 'const found = (await scan(target)).filter((one) => one.group === target.group);'),
    ],
    fault: stubbornJobs,
    scale: 8,
    expected: ['orphan'],
  },
  {
    name: 'a transaction is not repeated when the database is busy (F11)',
    patches: [NO_BUSY_RETRY],
    fault: busyStorm,
    scale: 100,
    expected: ['invariant', 'lost'],
  },
  {
    name: 'transactions are DEFERRED, and SQLite waits for locks itself (F11)',
    patches: [...WAITS_IN_SQLITE, DEFERRED],
    fault: busyStorm,
    scale: 100,
    expected: ['invariant', 'lost'],
  },
  {
    name: 'transactions are IMMEDIATE, and SQLite waits for locks itself (F11)',
    patches: WAITS_IN_SQLITE,
    fault: busyStorm,
    scale: 100,
    expected: [],
  },
  {
    name: 'leases expire by the wall clock (F9)',
    patches: [patchAt('lease-clock', 'return Date.now() - worker.lastHeartbeat > observer.leaseMs;')],
    fault: clockSteps,
    scale: clockSteps.small,
    expected: ['lease expired'],
  },
  {
    name: 'commits are not synced (synchronous=NORMAL) (F13)',
    patches: [patchWithin('sync-commits', 'synchronous = FULL', 'synchronous = NORMAL')],
    fault: powerCut,
    scale: powerCut.small,
    expected: ['lost'],
  },
  {
    name: 'the directories of a new store are not synced (F13)',
    patches: [patchAt('sync-new-store', '')],
    fault: powerCut,
    scale: powerCut.small,
    expected: ['lost'],
  },
  {
    name: 'a worker forgets what it has claimed if the answer to its claim is lost in a crash of the server (F38)',
    patches: [patchAt('lost-claims', ''), patchAt('lost-results', ''), patchAt('unnoticed-results', '')],
    fault: postgresStorm,
    scale: postgresStorm.small,
    expected: ['late', 'stuck'],
  },
  {
    name: 'the server is not asked what became of a COMMIT, but the worker looks for its claims (F38)',
    patches: [patchAt('lost-commit', "const result: string = 'unknown';")],
    fault: postgresStorm,
    scale: postgresStorm.small,
    expected: [],
  },
  {
    name: 'a host has no guard that stops its jobs (F40)',
    patches: [patchAt('guard', '')],
    fault: partitions,
    scale: 1,
    expected: ['overlap'],
  },
  {
    name: 'an idle worker waits for notifications and does not poll (F41)',
    patches: [patchAt('poll', 'return settings.lease * 100;')],
    fault: pooler,
    scale: 1,
    expected: ['late'],
  },
  {
    name: 'a process in another pid namespace counts as dead (F47)',
    patches: [patchAt('foreign-lifeline', 'return false;')],
    fault: namespaces,
    scale: 1,
    expected: ['twice', 'overlap'],
  },
  {
    name: 'a worker judges an attempt without waiting for its own stop signal (F49)',
    patches: [
      patchWithin(
        'own-stop',
        'stopped || (await comesSoon(waitMs, () => context.order !== null))',
        'stopped',
      ),
    ],
    fault: stopOfEverything,
    scale: 6,
    expected: ['charged'],
  },
  {
    name: 'the frame does not record signals (F49)',
    patches: [
      patchWithin('frame', "trap 'set -b' HUP INT TERM", 'trap : HUP INT TERM'),
      patchAt('stop-spread', 'const STOP_SPREAD_MS = -1e9;'),
    ],
    fault: stopOfEverything,
    scale: 6,
    expected: ['charged'],
  },
  {
    name: 'a timeout counts although the command had ended (F51)',
    patches: [...BLAMES_REQUEST, ...LATE_EXIT],
    fault: endedBeforeTimeout,
    scale: 2,
    expected: ['misjudged'],
  },
  {
    name: 'a forced stop counts although the command had ended (F51b)',
    patches: BLAMES_REQUEST,
    fault: endedBeforeForce,
    scale: 6,
    expected: ['twice'],
  },
  {
    name: 'a cancel counts although the command had ended (F51c)',
    patches: [...BLAMES_REQUEST, ...LATE_EXIT],
    fault: endedBeforeCancel,
    scale: 2,
    expected: ['misjudged'],
  },
  {
    name: 'a worker exits without a last check for jobs that were handed to it (F48)',
    patches: [
      patchAt('last-look', ''),
      patchWithin('siblings', '!(worker.siblingsStop && ', '!(!worker.siblingsStop && '),
      patchWithin('running-heir', '(row) => row.draining === 0 && row.stop_order === 0', '() => true'),
      // The delay lets other workers hand jobs over to a worker that is about to exit.
      patchAt(
        'unregister',
        'await new Promise((done) => setTimeout(done, 500)); await app.store.unregister(id);',
      ),
    ],
    fault: stoppedAdopters,
    scale: stoppedAdopters.small,
    expected: ['left'],
  },
  {
    name: 'a worker does not get the stop order of its supervisor when it registers (F50)',
    patches: [patchWithin('insert-worker', 'supervisor?.stop_order ?? 0', '0')],
    fault: stopMeetsStart,
    scale: 4,
    expected: ['missed'],
  },
];
