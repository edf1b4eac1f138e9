/**
 * P6 and P7 measure many processes on one store: loops of `enqueue` beside idle workers, the same slots in one or several
 * workers, the cost of idle workers, and many schedules. BENCH_WORKERS=2,64 and BENCH_ENQUEUES=50 change the numbers of workers
 * and the length of each loop.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { idMaker } from '../src/core/jobs/new-id.ts';
import { stateBeside } from '../src/state/state-directory.ts';
import { fileWakeups } from '../src/state/wake.ts';
import { openSqlite } from '../src/store/sqlite/open.ts';
import { fireDueTicks, newScheduling } from '../src/worker/schedules.ts';
import { createStore, type Lab, runOrThrow } from './lab.ts';
import { stop } from './latency.ts';
import { readTimes, timeInTurn } from './measure.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';
import { JOBS } from './throughput.ts';

const LOOPS = 16;
const WORKERS = (process.env.BENCH_WORKERS ?? '2,8,64').split(',').map(Number);
const ENQUEUES = Number(process.env.BENCH_ENQUEUES ?? 25);
const LEAST_RATE = 0.7;
const SLOWEST_MS = 1000;

const ROUNDS = 5;
const SPLITS = [
  { count: 1, concurrency: 4 },
  { count: 2, concurrency: 2 },
  { count: 4, concurrency: 2 },
];

const IDLE_S = 30;
const IDLE_MS_PER_S = 3;
const SCHEDULES = 2000;
const TICK_MS = 60_000;
const TICK_LIMIT_MS = 1000;

const START_MS = 60_000;
const SETTLE_MS = 2000;

export async function many(lab: Lab): Promise<Row[]> {
  return [...(await enqueueLoops(lab)), ...splitWorkers(lab), await idle(lab), await schedules(lab)];
}

/** Starts idle workers, waits until all are registered and returns their supervisor. */
async function startIdle(lab: Lab, home: string, count: number): Promise<ChildProcess> {
  const environment = { QUEUECTL_HOME: home };
  createStore(lab, environment);
  const supervisor = spawn(lab.queuectl, ['worker', 'start', '--quiet', '--count', String(count)], {
    env: { ...lab.environment, ...environment },
    stdio: 'ignore',
  });
  const list = [lab.queuectl, 'worker', 'list', '--json'];
  const end = performance.now() + START_MS;
  while (JSON.parse(runOrThrow(lab, list, environment)).length < count) {
    if (performance.now() > end) throw new Error('the workers did not get ready');
    await sleep(100);
  }
  await sleep(SETTLE_MS);
  return supervisor;
}

/** Measures the rate and the slowest of many enqueues, beside different numbers of idle workers. */
async function enqueueLoops(lab: Lab): Promise<Row[]> {
  if (lab.tools === null)
    return [{ name: 'P7', what: 'loops of enqueue', value: null, skipped: 'no C compiler' }];
  const rows: Row[] = [];
  let firstRate: number | null = null;
  for (const count of WORKERS) {
    const home = lab.emptyDirectory('p7-store');
    const supervisor = await startIdle(lab, home, count);
    const start = performance.now();
    const loops = Array.from({ length: LOOPS }, () => runLoop(lab, lab.tools!.times, home));
    const times = (await Promise.all(loops)).flat();
    const rate = (times.length / (performance.now() - start)) * 1000;
    await stop(supervisor);
    firstRate ??= rate;
    const what = `${LOOPS} loops of enqueue, ${count} idle workers`;
    const slowest = Math.max(...times);
    rows.push(
      {
        ...{ name: 'P7', what, value: summarize([rate], 'jobs/s') },
        ...{ ratio: rate / firstRate, target: { at: 'least', limit: LEAST_RATE } },
      },
      {
        ...{ name: 'P7', what: `${what}: slowest enqueue`, value: summarize([slowest], 'ms') },
        ...{ ratio: slowest / SLOWEST_MS, target: { at: 'most', limit: 1 } },
      },
    );
  }
  return rows;
}

/** Runs `enqueue` repeatedly and returns the milliseconds of each run. */
function runLoop(lab: Lab, tool: string, home: string): Promise<number[]> {
  const command = [String(ENQUEUES), lab.queuectl, 'enqueue', '--quiet', 'true'];
  const child = spawn(tool, command, {
    env: { ...lab.environment, QUEUECTL_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout!.on('data', (part) => (text += part));
  return new Promise((resolve, reject) =>
    child.once('close', (code) => {
      if (code === 0) resolve(readTimes(text, 1).wall[0]!);
      else reject(new Error(`a loop of enqueue failed with exit code ${code}`));
    }),
  );
}

/** Measures whether several workers run jobs as fast as one worker. */
function splitWorkers(lab: Lab): Row[] {
  const rates = SPLITS.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, { count, concurrency }] of SPLITS.entries()) {
      const environment = { QUEUECTL_HOME: lab.emptyDirectory('p7-split') };
      const file = join(environment.QUEUECTL_HOME, 'jobs.txt');
      writeFileSync(file, 'true\n'.repeat(JOBS));
      runOrThrow(lab, [lab.queuectl, 'enqueue', '--quiet', '--file', file], environment);
      const size = ['--count', String(count), '--concurrency', String(concurrency)];
      const command = [lab.queuectl, 'worker', 'start', '--drain', '--quiet', ...size];
      rates[i]!.push((JOBS / timeInTurn(lab, 1, [{ command, environment }])[0]![0]!) * 1000);
    }
  const summaries = rates.map((values) => summarize(values, 'jobs/s'));
  return SPLITS.map(({ count, concurrency }, i) => ({
    name: 'P7',
    what: `${count} workers with ${concurrency} slots each`,
    value: summaries[i]!,
    ratio: summaries[i]!.median / summaries[0]!.median,
    target: { at: 'least', limit: 1 },
  }));
}

/** Measures the CPU time of a supervisor and two idle workers. Only Linux shows it. */
async function idle(lab: Lab): Promise<Row> {
  const what = 'CPU time per second of a supervisor and two idle workers';
  if (process.platform !== 'linux') return { name: 'P6', what, value: null, skipped: 'needs /proc' };
  const supervisor = await startIdle(lab, lab.emptyDirectory('p6-store'), 2);
  const { pid } = supervisor;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const total = (): number => [String(pid), ...children].reduce((sum, one) => sum + cpuMs(one), 0);
  const before = total();
  await sleep(IDLE_S * 1000);
  const ms = (total() - before) / IDLE_S;
  await stop(supervisor);
  const target = { at: 'most', limit: 1 } as const;
  return { name: 'P6', what, value: summarize([ms], 'ms'), ratio: ms / IDLE_MS_PER_S, target };
}

function cpuMs(pid: string): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'));
  return nanoseconds.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0);
}

/** Measures how long it takes to enqueue the jobs of many schedules that are due at the same time. */
async function schedules(lab: Lab): Promise<Row> {
  const path = join(lab.emptyDirectory('p7-schedules'), 'queue.db');
  const { store } = await openSqlite(path);
  let now = Date.now();
  const timing = { kind: 'every', everyMs: TICK_MS, anchorAt: now } as const;
  const job = { command: 'true', cwd: '/' };
  for (let i = 0; i < SCHEDULES; i++) {
    const spec = { name: `s${i}`, timing, overlap: 'allow', catchUp: 'one', job } as const;
    await store.addSchedule(spec, now + TICK_MS, now);
  }
  const clock = { now: () => now, monotonic: () => now };
  const app = {
    store,
    stateDirectory: stateBeside(path),
    wakeups: fileWakeups(stateBeside(path)),
    clock,
    random: Math.random,
    newId: idMaker(Math.random),
  };
  const worker = { app, id: 'bench', scheduling: newScheduling(), emit() {} };
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    now += TICK_MS;
    const start = performance.now();
    for (let enqueued = 0; enqueued < SCHEDULES; ) enqueued += (await fireDueTicks(worker, now)).enqueued;
    times.push(performance.now() - start);
  }
  await store.close();
  const value = summarize(times, 'ms');
  const target = { at: 'most', limit: 1 } as const;
  const what = `the jobs of ${SCHEDULES} schedules are enqueued`;
  return { name: 'P7', what, value, ratio: value.median / TICK_LIMIT_MS, target };
}
