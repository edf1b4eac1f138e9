/** Measures where a worker with four slots spends the time of a `true` job. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cost, StartRecord } from '../test/support/record-start.ts';
import { type Lab, runOrThrow } from './lab.ts';
import { type Summary, summarize } from './numbers.ts';
import type { Row } from './report.ts';

const JOBS = 1500;
const ROUNDS = 5;
/** A traced worker is many times slower. */
const TRACED_JOBS = 200;
const ROOT = join(import.meta.dirname, '..');
const WORKER = ['__worker', '--concurrency', '4', '--drain', '--quiet'];
const TICKS_PER_SECOND = 100;
const POLL_MS = 20;
/** The steps that are not listed by name share one row. */
const LISTED_CALLS = [
  'spawn',
  'openSync',
  'mkdirSync',
  'rmdirSync',
  'unlinkSync',
  'statSync',
  'closeSync',
  'utimesSync',
];

/** One run of the worker, in microseconds per job. */
interface Profile {
  steps: Map<string, { us: number; calls: number }>;
  wallUs: number;
  workerCpuUs: number;
  childCpuUs: number;
}

export async function profileJob(lab: Lab): Promise<Row[]> {
  const profiles: Profile[] = [];
  for (let round = 0; round < ROUNDS; round++) profiles.push(await profileOnce(lab));
  const over = (pick: (one: Profile) => number, unit: Summary['unit'] = 'µs'): Summary =>
    summarize(profiles.map(pick), unit);
  const names = [...profiles[0]!.steps.keys()];
  const steps = names.map(
    (name): Row => ({
      ...{ name: 'job', what: name, value: over((one) => one.steps.get(name)!.us) },
      callsPerJob: over((one) => one.steps.get(name)!.calls, 'per job').median,
    }),
  );
  return [
    { name: 'job', what: 'time of the worker, 4 slots', value: over((one) => one.wallUs) },
    ...steps.sort((a, b) => b.value!.median - a.value!.median),
    { name: 'job', what: 'the rest: JavaScript, and waiting for commands', value: over(restOf) },
    { name: 'job', what: 'CPU time of the worker', value: over((one) => one.workerCpuUs) },
    { name: 'job', what: 'CPU time of the frame and the command', value: over((one) => one.childCpuUs) },
    ...(await traceJobs(lab)),
  ];
}

function restOf({ wallUs, steps }: Profile): number {
  return wallUs - [...steps.values()].reduce((sum, step) => sum + step.us, 0);
}

/** Returns the cost of one more job: the difference of a run with many jobs and one with a single job. */
async function profileOnce(lab: Lab): Promise<Profile> {
  const [one, many] = [await measureWorker(lab, 1), await measureWorker(lab, JOBS + 1)];
  const perJob = (pick: (run: WorkerRun) => number): number => (pick(many) - pick(one)) / JOBS;
  const steps = Object.keys(many.steps).map((name): [string, { us: number; calls: number }] => [
    name,
    {
      us: perJob(({ steps }) => (steps[name]?.ms ?? 0) * 1000),
      calls: perJob(({ steps }) => steps[name]?.calls ?? 0),
    },
  ]);
  return {
    steps: new Map(steps),
    wallUs: perJob((run) => run.wallMs * 1000),
    workerCpuUs: perJob((run) => run.workerCpuMs * 1000),
    childCpuUs: perJob((run) => run.childCpuMs * 1000),
  };
}

interface WorkerRun {
  steps: Record<string, Cost>;
  wallMs: number;
  workerCpuMs: number;
  childCpuMs: number;
}

/** The steps come from the source, which runs with a preload that measures them. The CPU times come from the executable. */
async function measureWorker(lab: Lab, jobs: number): Promise<WorkerRun> {
  const home = addJobs(lab, jobs);
  const record = join(home, 'record');
  const preload = join(ROOT, 'test/support/record-start.ts');
  const source = [process.execPath, '--no-install', '--preload', preload, join(ROOT, 'src/cli/main.ts')];
  const { wallMs } = await runWorker(lab, source, { QUEUECTL_HOME: home, RECORD: record });
  const steps = stepsOf(JSON.parse(readFileSync(record, 'utf8')));
  const { workerCpuMs, childCpuMs } = await runWorker(lab, [lab.queuectl], {
    QUEUECTL_HOME: addJobs(lab, jobs),
  });
  return { steps, wallMs, workerCpuMs, childCpuMs };
}

function stepsOf({ statements, calls, executed }: StartRecord): Record<string, Cost> {
  const { COMMIT, 'BEGIN IMMEDIATE': begin, ...others } = statements;
  // A read ends with a COMMIT, too, which costs nothing. So the commits are counted by how the transactions begin.
  const commits = executed.filter((sql) => sql === 'BEGIN IMMEDIATE').length;
  const isListed = ([name]: [string, Cost]): boolean => LISTED_CALLS.includes(name);
  const entries = Object.entries(calls);
  return {
    COMMIT: { calls: commits, ms: COMMIT!.ms },
    'BEGIN IMMEDIATE': begin!,
    'SQL statements': total(Object.values(others)),
    ...Object.fromEntries(entries.filter(isListed)),
    'other file calls': total(entries.filter((one) => !isListed(one)).map(([, cost]) => cost)),
  };
}

function total(costs: Cost[]): Cost {
  const sum = (pick: 'calls' | 'ms'): number => costs.reduce((all, cost) => all + cost[pick], 0);
  return { calls: sum('calls'), ms: sum('ms') };
}

function addJobs(lab: Lab, jobs: number): string {
  const home = lab.emptyDirectory('profile-store');
  const file = join(home, 'jobs.txt');
  writeFileSync(file, 'true\n'.repeat(jobs));
  runOrThrow(lab, [lab.queuectl, 'enqueue', '--quiet', '--file', file], { QUEUECTL_HOME: home });
  return home;
}

/** Runs one worker process, without a supervisor, until no job is left. */
async function runWorker(
  lab: Lab,
  command: string[],
  environment: Record<string, string>,
): Promise<{ wallMs: number; workerCpuMs: number; childCpuMs: number }> {
  const [program, ...args] = [...command, ...WORKER];
  const start = performance.now();
  // The worker would stop at the end of its standard input, so that stays open.
  const worker = spawn(program!, args, {
    ...{ cwd: ROOT, env: { ...lab.environment, ...environment } },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const exited = new Promise<number | null>((done) => worker.once('exit', done));
  let cpu = { workerCpuMs: 0, childCpuMs: 0 };
  const poll = setInterval(() => {
    cpu = cpuTimes(worker.pid!) ?? cpu;
  }, POLL_MS);
  const code = await exited;
  clearInterval(poll);
  if (code !== 0) throw new Error(`the worker exited with ${code}`);
  return { wallMs: performance.now() - start, ...cpu };
}

/** Reads the CPU times of a process and of its children that have ended. Returns null if the process is gone. */
function cpuTimes(pid: number): { workerCpuMs: number; childCpuMs: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [user, system, childUser, childSystem] = stat
      .slice(stat.lastIndexOf(')'))
      .split(' ')
      .slice(12, 16)
      .map((ticks) => (Number(ticks) / TICKS_PER_SECOND) * 1000);
    if (user! + system! === 0) return null;
    return { workerCpuMs: user! + system!, childCpuMs: childUser! + childSystem! };
  } catch {
    return null;
  }
}

/** Counts the system calls and syncs of the worker, the frames and the commands. */
async function traceJobs(lab: Lab): Promise<Row[]> {
  const strace = Bun.which('strace');
  const rows: Row[] = ['system calls of all processes', 'syncs'].map((what) => ({
    ...{ name: 'job', what, value: null, skipped: 'no strace' },
  }));
  if (strace === null) return rows;
  const [one, many] = [await countCalls(lab, strace, 1), await countCalls(lab, strace, TRACED_JOBS + 1)];
  return rows.map(({ name, what }, i) => ({
    ...{ name, what, value: summarize([(many[i]! - one[i]!) / TRACED_JOBS], 'per job') },
  }));
}

/** Returns the number of all system calls and that of the syncs. */
async function countCalls(lab: Lab, strace: string, jobs: number): Promise<number[]> {
  const home = addJobs(lab, jobs);
  const file = join(home, 'trace');
  await runWorker(lab, [strace, '-f', '-c', '-o', file, lab.queuectl], { QUEUECTL_HOME: home });
  const counts = [...readFileSync(file, 'utf8').matchAll(/^ *[\d.]+ +[\d.]+ +\d+ +(\d+) .*?(\w+)$/gm)]
    .map(([, calls, name]) => ({ calls: Number(calls), name: name! }))
    .filter(({ name }) => name !== 'total');
  const sum = (some: typeof counts): number => some.reduce((all, { calls }) => all + calls, 0);
  return [sum(counts), sum(counts.filter(({ name }) => /^f(data)?sync$/.test(name)))];
}
