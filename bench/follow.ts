/** F1 measures how soon `enqueue --wait` exits after a job has ended, and how soon `run` prints a line of output. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lab, runOrThrow } from './lab.ts';
import { stop, untilReady } from './latency.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';

const SAMPLES = 40;
/** The job sleeps for so long that the command has begun to watch it. */
const SHORT_SLEEP = 'sleep 0.15';
const MAX_EXIT_MS = 100;
const MAX_LINE_MS = 200;

export async function follow(lab: Lab): Promise<Row[]> {
  const environment = { QUEUECTL_HOME: lab.emptyDirectory('f1-store') };
  const worker = spawn(lab.queuectl, ['worker', 'start', '--quiet'], {
    env: { ...lab.environment, ...environment },
    stdio: 'ignore',
  });
  const exitDelays: number[] = [];
  const lineDelays: number[] = [];
  try {
    await untilReady(lab, environment);
    const file = join(lab.directory, 'f1-end');
    for (let i = 0; i < SAMPLES; i++) {
      runOrThrow(
        lab,
        [lab.queuectl, 'enqueue', '--wait', `${SHORT_SLEEP}; date +%s%N >'${file}'`],
        environment,
      );
      exitDelays.push(Date.now() - Number(readFileSync(file, 'utf8')) / 1e6);
      lineDelays.push(await firstLineDelay(lab, environment));
    }
  } finally {
    await stop(worker);
  }
  return [
    row('last instruction -> exit of enqueue --wait', exitDelays, MAX_EXIT_MS),
    row('line written -> line printed by run', lineDelays, MAX_LINE_MS),
  ];
}

function row(what: string, times: number[], limit: number): Row {
  return { name: 'F1', what: `${what} (ms)`, value: summarize(times, 'ms'), target: { at: 'most', limit } };
}

function firstLineDelay(lab: Lab, environment: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(lab.queuectl, ['run', `${SHORT_SLEEP}; date +%s%N; ${SHORT_SLEEP}`], {
    env: { ...lab.environment, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return new Promise((resolve, reject) => {
    let ms: number | null = null;
    child.stdout.on('data', (data) => {
      ms ??= Date.now() - Number(data) / 1e6;
    });
    child.once('close', () => (ms === null ? reject(new Error('run printed nothing')) : resolve(ms)));
  });
}
