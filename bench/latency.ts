/** P4 measures the time from the start of `enqueue` to the first instruction of the command, with an idle worker. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { frameArguments } from '../src/exec/frame.ts';
import { processes } from '../src/exec/processes.ts';
import { CREATE, type Lab, must } from './lab.ts';
import { type Timed, timeInTurn } from './measure.ts';
import { type Summary, summarize } from './numbers.ts';
import type { Row } from './report.ts';

const SAMPLES = 150;
const READY_MS = 10_000;
const STOP_MS = 10_000;

const WHAT = 'enqueue by another process -> first instruction';

export async function latency(lab: Lab): Promise<Row[]> {
  if (lab.tools === null) return [{ name: 'P4', what: WHAT, value: null, skipped: 'no C compiler' }];
  const { stamp } = lab.tools;
  const busy = { QUEUECTL_HOME: lab.fresh('p4-store') };
  const alone = { QUEUECTL_HOME: lab.fresh('p4-alone') };
  for (const environment of [busy, alone]) must(lab, [lab.queuectl, ...CREATE], environment);
  const mark = join(lab.directory, 'p4-stamp');
  const enqueue = [lab.queuectl, 'enqueue', '--', stamp, mark];
  const commands: Timed[] = [
    { command: enqueue, environment: busy, stamp: mark },
    { command: enqueue, environment: alone },
    framed(lab, stamp, mark),
  ];
  const worker = spawn(lab.queuectl, ['worker', 'start', '--quiet'], {
    env: { ...lab.environment, ...busy },
    stdio: 'ignore',
  });
  try {
    await untilReady(lab, busy);
    timeInTurn(lab, 3, commands);
    return rows(timeInTurn(lab, SAMPLES, commands).map((times) => summarize(times, 'ms')));
  } finally {
    await stop(worker);
  }
}

function rows([whole, alone, frame]: Summary[]): Row[] {
  const least = alone!.median + frame!.median;
  const sum = {
    ...alone!,
    median: least,
    p10: alone!.p10 + frame!.p10,
    p90: alone!.p90 + frame!.p90,
    p99: alone!.p99 + frame!.p99,
  };
  return [
    { name: 'P4', what: WHAT, value: whole! },
    { name: 'P4', what: 'enqueue alone, no worker', value: alone! },
    { name: 'P4', what: 'framed command alone, started in C', value: frame! },
    {
      ...{ name: 'P4', what: 'enqueue alone + framed command alone', value: sum },
      ...{ ratio: whole!.median / least, target: { at: 'most', limit: 1.5 } },
    },
  ];
}

function framed(lab: Lab, stamp: string, mark: string): Timed {
  const record = join(lab.directory, 'p4-record');
  const openFileLimit = processes.inheritedOpenFileLimit();
  const args = frameArguments({
    record,
    umask: process.umask(),
    openFileLimit,
    command: '',
    argv: [stamp, mark],
  });
  return { command: ['/bin/sh', ...args], fresh: record, stamp: mark };
}

export async function untilReady(lab: Lab, environment: Record<string, string>): Promise<void> {
  for (const end = performance.now() + READY_MS; performance.now() < end; await sleep(50)) {
    const workers: unknown[] = JSON.parse(must(lab, [lab.queuectl, 'worker', 'list', '--json'], environment));
    if (workers.length > 0) return;
  }
  throw new Error('the worker did not get ready');
}

export async function stop(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const over = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.kill('SIGTERM');
  const late = setTimeout(() => worker.kill('SIGKILL'), STOP_MS);
  await over;
  clearTimeout(late);
}
