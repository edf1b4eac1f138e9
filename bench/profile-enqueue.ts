/** Measures where one `enqueue` spends its time, from the times of a few system calls. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createStore, type Lab, runOrThrow } from './lab.ts';
import { stop, untilReady } from './latency.ts';
import { type Summary, summarize } from './numbers.ts';
import type { Row } from './report.ts';

const RUNS = 20;
/** Few calls are traced, so that tracing costs little. */
const TRACED = 'trace=execve,openat,fsync,fdatasync,write,exit_group';

/** The steps of an enqueue, in order. */
const STEPS = [
  'start of the runtime (an empty program, from start to exit)',
  'loading the command',
  'opening the store, up to the first sync',
  'commit, with its syncs, and output',
  'closing the store',
  'end of the process',
];

export async function profileEnqueue(lab: Lab): Promise<Row[]> {
  const strace = Bun.which('strace');
  const stores = ['no other process has the store open', 'an idle worker has the store open'];
  if (strace === null)
    return stores.map((what) => ({ name: 'enqueue', what, value: null, skipped: 'no strace' }));
  const homes = stores.map((_, i) => {
    const home = lab.emptyDirectory(`profile-enqueue-${i}`);
    createStore(lab, { QUEUECTL_HOME: home });
    return home;
  });
  const worker = await startIdleWorker(lab, homes[1]!);
  try {
    // All stores are measured in turn, so that other load affects all of them.
    const profiles = homes.map((): EnqueueProfile[] => []);
    for (let run = -1; run < RUNS; run++) {
      const runtime = at(trace(lab, strace, [lab.program('empty')], lab.directory), 'exit_group(');
      for (const [i, home] of homes.entries()) {
        const one = { ...traceEnqueue(lab, strace, home, runtime), cpuMs: cpuOfEnqueue(lab, home) };
        // The first start of each program fills the page cache.
        if (run >= 0) profiles[i]!.push(one);
      }
    }
    return profiles.flatMap((runs, i) => rowsOf(stores[i]!, runs));
  } finally {
    await stop(worker);
  }
}

/** A worker of another queue keeps the store open but does not write when a job is added. */
async function startIdleWorker(lab: Lab, home: string): Promise<ChildProcess> {
  const environment = { QUEUECTL_HOME: home };
  const worker = spawn(lab.queuectl, ['worker', 'start', '--queue', 'other', '--quiet'], {
    env: { ...lab.environment, ...environment },
    stdio: 'ignore',
  });
  await untilReady(lab, environment);
  return worker;
}

interface EnqueueProfile {
  steps: number[];
  syncs: number;
  cpuMs: number;
}

function rowsOf(store: string, runs: EnqueueProfile[]): Row[] {
  const row = (what: string, pick: (run: EnqueueProfile) => number, unit: Summary['unit'] = 'ms'): Row => ({
    ...{ name: 'enqueue', what: `${store}: ${what}`, value: summarize(runs.map(pick), unit) },
  });
  return [
    row('whole process', ({ steps }) => steps.reduce((sum, ms) => sum + ms, 0)),
    ...STEPS.map((step, i) => row(step, ({ steps }) => steps[i]!)),
    row('CPU time of the process', ({ cpuMs }) => cpuMs),
    row('syncs', ({ syncs }) => syncs, 'per job'),
  ];
}

/** Returns the milliseconds of each step of one enqueue, and the number of its syncs. */
function traceEnqueue(
  lab: Lab,
  strace: string,
  home: string,
  runtime: number,
): Pick<EnqueueProfile, 'steps' | 'syncs'> {
  const lines = trace(lab, strace, [lab.queuectl, 'enqueue', 'true'], home);
  const marks = [
    runtime,
    at(lines, '/queue.db"'),
    at(lines, 'sync('),
    at(lines, 'write(1'),
    at(lines, 'exit_group('),
    Math.max(...lines.map((line) => line.ms)),
  ];
  return {
    steps: marks.map((ms, i) => ms - (marks[i - 1] ?? 0)),
    syncs: lines.filter(({ text }) => /^f(data)?sync\(/.test(text)).length,
  };
}

function cpuOfEnqueue(lab: Lab, home: string): number {
  const env = { ...lab.environment, QUEUECTL_HOME: home };
  const { resourceUsage } = Bun.spawnSync([lab.queuectl, 'enqueue', 'true'], { env });
  return Number(resourceUsage.cpuTime.total) / 1000;
}

interface TracedCall {
  /** The time since the start of the program. */
  ms: number;
  text: string;
}

function trace(lab: Lab, strace: string, command: string[], home: string): TracedCall[] {
  const file = join(lab.directory, 'profile-trace');
  const options = ['-f', '--seccomp-bpf', '-ttt', '-e', TRACED, '-o', file];
  runOrThrow(lab, [strace, ...options, ...command], { QUEUECTL_HOME: home });
  const lines = [...readFileSync(file, 'utf8').matchAll(/^\d+ +(\d+\.\d+) (.*)$/gm)];
  const start = Number(lines[0]![1]);
  return lines.map(([, seconds, text]) => ({ ms: (Number(seconds) - start) * 1000, text: text! }));
}

/** Returns the time of the first call that contains a text. */
function at(lines: TracedCall[], text: string): number {
  const found = lines.find((line) => line.text.includes(text));
  if (found === undefined) throw new Error(`the trace has no ${text}`);
  return found.ms;
}
