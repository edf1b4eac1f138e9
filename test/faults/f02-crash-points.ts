import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { workersOf } from '../support/processes.ts';
import { until } from '../support/queuectl.ts';
import { below } from '../support/random.ts';
import { allPoints } from './all-crash-points.ts';
import { readJobs } from './audit.ts';
import type { Violation } from './checker.ts';
import { type Crash, crashAt, waitForRecovery } from './crash.ts';
import type { Fault } from './fault.ts';
import { inLab, type Lab } from './lab.ts';
import { copyWithOutput, deleteOnFullDisk } from './maintenance-scenes.ts';
import { mayMount } from './mounts.ts';
import { ADOPT_ONLY, untilReady } from './process-control.ts';
import { inLanes, shuffled } from './rounds.ts';
import { releaseByServer } from './server-scene.ts';
import { unsupervisedWorker } from './unsupervised-worker.ts';
import { witnessed } from './witness.ts';

const PRINT_300_KB = '. ./witness.sh; say S -; head -c 300000 /dev/zero; sleep 0.8; say E 0';
const TICK_COMMAND = witnessed(0);
const ROUNDS_PER_POINT = 20;

/** Matches the crash points of a migration, which F36 tests, and those that only PostgreSQL has. */
const UNTESTED_POINT = /-(migrate|fold|wishSignal|signalSent|share)$/;

/** Returns the crash points to test. Those of the ballast are left out if mounting is not allowed. */
const testedPoints = (): string[] =>
  allPoints().filter(
    (point) => !UNTESTED_POINT.test(point) && (mayMount || !point.endsWith('-free-ballast')),
  );

/** Kills a process at each crash point and expects other processes to finish its work. */
export const crashPoints: Fault = faultAt(testedPoints());

/** Returns F2 for points that are, start with or end in one of these names. For example, `mark` selects `in-setEndReason`. */
export function crashPointsNamed(names: string[]): Fault {
  const chosen = testedPoints().filter((point) =>
    names.some((name) => point === name || point.endsWith(`-${name}`) || point.startsWith(`${name}-`)),
  );
  if (chosen.length === 0) throw new Error(`there is no crash point ${names.join(' or ')}`);
  return faultAt(chosen);
}

function faultAt(chosen: string[]): Fault {
  return {
    id: 'F2',
    title: 'SIGKILL at every crash point',
    small: Math.min(8, chosen.length),
    full: chosen.length * ROUNDS_PER_POINT,
    async run(rounds, seed, program) {
      const order = shuffled(chosen, seed);
      const results = await inLanes(rounds, (i) => round(order[i % order.length]!, seed + i, program));
      return {
        jobs: results.reduce((sum, one) => sum + one.jobs, 0),
        faults: rounds,
        violations: results.flatMap((one) => one.violations),
        notes: `${Math.min(rounds, order.length)} points`,
      };
    },
  };
}

/** Plays scenes until a process reaches the crash point. */
async function round(
  point: string,
  seed: number,
  program?: string,
): Promise<{ jobs: number; violations: Violation[] }> {
  for (const scene of scenesFor(point)) {
    const played = inLab(seed, (lab) => play(lab, point, scene), program);
    // A scene that throws counts as a violation, so that the other rounds continue.
    const result = await played.catch((error: Error) => ({
      jobs: 0,
      violations: [{ kind: 'invariant' as const, what: `${point}: ${error.message}` }],
    }));
    if (result !== null) return result;
  }
  return { jobs: 0, violations: [{ kind: 'invariant', what: `nothing ever passes ${point}` }] };
}

type Scene = (lab: Lab, crash: Crash) => Promise<void>;

/** Returns the scenes for a crash point. The first one is the most likely to reach it. */
function scenesFor(point: string): Scene[] {
  if (/-(adopt|gate|settle)$/.test(point)) return [adoptClaims, cancelOrphan, runJobs];
  if (
    /-(set|setQueue|removeQueue|insert|hold|release|edit|cancel|retry|remove|prune|\w*Schedule|fireNow)$/.test(
      point,
    )
  )
    return [runUserCommands, runJobs];
  if (/-(pruneEvents|forgetKeys|forgetRollups|renew|load)$/.test(point)) return [pruneAndCopy];
  if (/-(backup|(keep|move|import)-output)$|^swap-|^in-touch$/.test(point)) return [copyWithOutput];
  if (point.endsWith('-free-ballast')) return [deleteOnFullDisk];
  if (point.endsWith('-note')) return [releaseByServer];
  if (point.endsWith('-handOver')) return [handOverJob];
  return [runJobs, adoptClaims, cancelOrphan, runUserCommands];
}

/** Plays a scene and returns its result, or null if no process reached the crash point. */
async function play(
  lab: Lab,
  point: string,
  scene: Scene,
): Promise<{ jobs: number; violations: Violation[] } | null> {
  await lab.configure({ 'backoff-strategy': 'fixed', 'retry-delay': '50ms', 'kill-grace': '200ms' });
  await lab.configure({ 'output-limit': '64K', 'heartbeat-interval': '200ms', lease: '1s' });
  // A store is created with a ballast. The next worker makes another one.
  if (/^(before|in|after)-ballast$/.test(point)) rmSync(`${lab.database}.d/ballast`, { force: true });
  // Points that processes pass often are tested at their first, second or third passage.
  const nth = 1 + below(lab.random, 3);
  const crash = crashAt(
    lab,
    /-(claim|beat|spawn|exit)$|^(before|after)-touch$/.test(point) ? `${point}:${nth}` : point,
  );
  await scene(lab, crash);
  if (!crash.died) return null;
  // The jobs of schedules and those that the scene did not record must not be lost, but may run again.
  const onceIds = new Set(lab.enqueued.map((one) => one.id));
  for (const { id } of readJobs(lab.database)) if (!onceIds.has(id)) lab.recordEnqueue(id, 'ok');
  const violations = await lab.judge(onceIds);
  const withPoint = (one: Violation): Violation => ({ ...one, what: `${point}: ${one.what}` });
  return { jobs: lab.enqueued.length, violations: violations.map(withPoint) };
}

/** Runs commands of users, and starts workers only after the last of them. */
async function runUserCommands(lab: Lab, crash: Crash): Promise<void> {
  const add = async (id: string, command: string): Promise<void> => {
    await crash.run('enqueue', '--id', id, '--command', command);
    lab.recordEnqueue(id, 'ok');
  };
  await crash.run('config', 'set', 'max-retries', '2');
  await crash.run('queue', 'set', 'q', '--concurrency', '2');
  await crash.run('queue', 'delete', 'q');
  for (const id of ['kept', 'tried', 'gone']) await add(id, witnessed(0));
  await crash.run('hold', 'kept');
  await crash.run('edit', 'kept', '--priority', '3');
  await crash.run('release', 'kept');
  await crash.run('cancel', 'tried', 'gone');
  await crash.run('retry', 'tried');
  await crash.run('delete', 'gone');
  lab.enqueued.splice(
    lab.enqueued.findIndex((one) => one.id === 'gone'),
    1,
  );
  await crash.run('schedule', 'add', 's', '--every', '1h', TICK_COMMAND);
  await crash.run('schedule', 'edit', 's', '--every', '2h');
  await crash.run('schedule', 'pause', 's');
  await crash.run('schedule', 'run', 's');
  await crash.run('schedule', 'remove', 's');
  // `prune` removes this cancelled job.
  await lab.box.json(['enqueue', '--id', 'old', '--command', 'true']);
  await lab.box.json(['cancel', 'old']);
  await lab.configure({ 'keep-cancelled': '1ms' });
  await crash.run('prune');
  const workers = lab.supervisor(['--count', '2']);
  await waitForRecovery(lab, workers);
}

/** Prunes old events, keys and rollups, backs up another queue, and exports and imports this one. */
async function pruneAndCopy(lab: Lab, crash: Crash): Promise<void> {
  await lab.enqueue([
    { id: 'one', command: witnessed(0) },
    { id: 'two', command: witnessed(0) },
  ]);
  await lab.box.json(['enqueue', '--id', 'keyed', '--idempotency-key', 'k', '--command', witnessed(0)]);
  lab.recordEnqueue('keyed', 'ok');
  const db = openDatabase(lab.database);
  db.exec('UPDATE idempotency SET used_at = 1; INSERT INTO rollup (tier, at, kind) VALUES (1, 0, 1)');
  db.close();
  await lab.configure({ 'keep-events': '1' });
  await crash.run('prune');
  // Another queue is backed up, because a backup refuses a store with the triggers of the audit.
  const other = join(lab.box.directory, 'other.db');
  await lab.box.run(['--db', other, 'enqueue', 'true']);
  await crash.run('--db', other, 'backup', '--force', join(lab.box.directory, 'copy.db'));
  const exportFile = join(lab.box.directory, 'queue.jsonl');
  writeFileSync(exportFile, (await lab.box.run(['export'])).stdout);
  await crash.run('import', '--on-conflict', 'skip', exportFile);
  const workers = lab.supervisor(['--count', '2']);
  await waitForRecovery(lab, workers);
}

/** Runs jobs that end in different ways and a schedule, beside an old lifeline. Then stops the workers. */
async function runJobs(lab: Lab, crash: Crash): Promise<void> {
  createOldLifeline(lab);
  const jobs = [
    ...Array.from({ length: 4 }, (_, i) => ({ id: `ok${i}`, command: witnessed(0.02 * i) })),
    { id: 'dead', command: witnessed(0, 1), max_retries: 1 },
    { id: 'late', command: witnessed(60), max_retries: 1, timeout_ms: 300 },
    { id: 'flood', command: PRINT_300_KB },
    { id: 'fed', command: witnessed(0), stdin: 'food' },
  ];
  await lab.enqueue(jobs);
  // This job is not recorded in the lab, so the checker allows it to run again.
  const retried = '. ./witness.sh; witnessed 0 $((QUEUECTL_ATTEMPT < 2))';
  await lab.box.json(['enqueue', '--id', 'retried', '--command', retried]);
  await lab.box.json(['schedule', 'add', 's', '--every', '1s', TICK_COMMAND]);
  const workers = crash.supervisor('--count', '2', '--concurrency', '2');
  const hasFired = (): boolean => readJobs(lab.database).length > jobs.length + 1;
  await waitForRecovery(lab, workers, hasFired);
  await lab.box.json(['schedule', 'remove', 's']);
  await waitForRecovery(lab, workers);
  const [one] = await workersOf(lab.box);
  await crash.run('worker', 'stop', one!.id, '--timeout', '20s');
  await crash.run('worker', 'stop', '--timeout', '20s');
  await lab.box.run(['worker', 'stop', '--timeout', '20s']);
  await workers.exit;
  crash.checkDeath(workers);
}

function createOldLifeline({ database }: Lab): void {
  const path = join(`${database}.d`, 'lifelines', '1-0123456789ab');
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  execFileSync('mkfifo', [path]);
  utimesSync(path, 1, 1);
}

/** Lets workers adopt three claims of a killed worker: of an ended, a running and an unstarted job. */
async function adoptClaims(lab: Lab, crash: Crash): Promise<void> {
  await lab.enqueue([
    { id: 'ended', command: witnessed(0) },
    { id: 'alive', command: witnessed(0.5) },
    { id: 'unstarted', command: witnessed(0) },
  ]);
  await unsupervisedWorker(lab, 'before-place:3').exit;
  const workers = crash.supervisor('--count', '2');
  await waitForRecovery(lab, workers);
  crash.checkDeath(workers);
}

/** Stops a worker that has adopted a job, while another worker continues. */
async function handOverJob(lab: Lab, crash: Crash): Promise<void> {
  await lab.enqueue([{ id: 'alive', command: witnessed(2) }]);
  await unsupervisedWorker(lab, 'after-spawn').exit;
  const workers = crash.supervisor();
  await until(() => workers.output().includes('job=alive attempt=1 queue=default adopted'), 'adopted');
  await untilReady(lab.supervisor(ADOPT_ONLY));
  process.kill(workers.pid, 'SIGTERM');
  await workers.exit;
  crash.checkDeath(workers);
  await lab.waitForJobs();
}

/** Cancels a job that a dead worker claimed, while no worker runs that could adopt it. */
async function cancelOrphan(lab: Lab, crash: Crash): Promise<void> {
  await lab.enqueue([{ id: 'alive', command: witnessed(60) }]);
  await unsupervisedWorker(lab, 'after-spawn').exit;
  await crash.run('cancel', 'alive');
}
