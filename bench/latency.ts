/** P4 measures the time from the start of `enqueue` to the first instruction of the command, with an idle worker. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { frameArguments } from '../src/exec/frame.ts';
import { processes } from '../src/exec/processes.ts';
import { createStore, type Lab, runOrThrow } from './lab.ts';
import { type TimedCommand, timeInTurn } from './measure.ts';
import { type Summary, summarize } from './numbers.ts';
import type { Row } from './report.ts';

const SAMPLES = 150;
const MAX_READY_MS = 10_000;
const MAX_STOP_MS = 10_000;

const TITLE = 'enqueue by another process -> first instruction';

export async function latency(lab: Lab): Promise<Row[]> {
  if (lab.tools === null) return [{ name: 'P4', what: TITLE, value: null, skipped: 'no C compiler' }];
  const { stamp } = lab.tools;
  const withWorker = { QUEUECTL_HOME: lab.emptyDirectory('p4-store') };
  const withoutWorker = { QUEUECTL_HOME: lab.emptyDirectory('p4-alone') };
  for (const environment of [withWorker, withoutWorker]) createStore(lab, environment);
  const stampFile = join(lab.directory, 'p4-stamp');
  const enqueue = [lab.queuectl, 'enqueue', '--', stamp, stampFile];
  const commands: TimedCommand[] = [
    { command: enqueue, environment: withWorker, stamp: stampFile },
    { command: enqueue, environment: withoutWorker },
    framedCommand(lab, stamp, stampFile),
  ];
  const worker = spawn(lab.queuectl, ['worker', 'start', '--quiet'], {
    env: { ...lab.environment, ...withWorker },
    stdio: 'ignore',
  });
  try {
    await untilReady(lab, withWorker);
    timeInTurn(lab, 3, commands);
    return rows(timeInTurn(lab, SAMPLES, commands).map((times) => summarize(times, 'ms')));
  } finally {
    await stop(worker);
  }
}

function rows([whole, alone, frame]: Summary[]): Row[] {
  const sumOfMedians = alone!.median + frame!.median;
  const sum = {
    ...alone!,
    median: sumOfMedians,
    p10: alone!.p10 + frame!.p10,
    p90: alone!.p90 + frame!.p90,
    p99: alone!.p99 + frame!.p99,
  };
  return [
    { name: 'P4', what: TITLE, value: whole! },
    { name: 'P4', what: 'enqueue alone, no worker', value: alone! },
    { name: 'P4', what: 'framed command alone, started in C', value: frame! },
    {
      ...{ name: 'P4', what: 'enqueue alone + framed command alone', value: sum },
      ...{ ratio: whole!.median / sumOfMedians, target: { at: 'most', limit: 1.5 } },
    },
  ];
}

function framedCommand(lab: Lab, stamp: string, stampFile: string): TimedCommand {
  const record = join(lab.directory, 'p4-record');
  const openFileLimit = processes.inheritedOpenFileLimit();
  const args = frameArguments({
    record,
    umask: process.umask(),
    openFileLimit,
    command: '',
    argv: [stamp, stampFile],
  });
  return { command: ['/bin/sh', ...args], fresh: record, stamp: stampFile };
}

export async function untilReady(lab: Lab, environment: Record<string, string>): Promise<void> {
  for (const end = performance.now() + MAX_READY_MS; performance.now() < end; await sleep(50)) {
    const workers: unknown[] = JSON.parse(
      runOrThrow(lab, [lab.queuectl, 'worker', 'list', '--json'], environment),
    );
    if (workers.length > 0) return;
  }
  throw new Error('the worker did not get ready');
}

/** Stops a process with SIGTERM, and with SIGKILL if it does not exit in time. */
export async function stop(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.kill('SIGTERM');
  const killTimer = setTimeout(() => worker.kill('SIGKILL'), MAX_STOP_MS);
  await exited;
  clearTimeout(killTimer);
}
