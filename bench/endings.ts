/** Measures how long after their timeout or failure 500 jobs are settled, against a single job. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lab, runOrThrow } from './lab.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';

const MANY_JOBS = 500;
const TIMEOUT_MS = 5000;

interface JobTimes {
  started_at: string;
  finished_at: string;
}

export async function endings(lab: Lab): Promise<Row[]> {
  const home = lab.emptyDirectory('endings');
  const environment = { QUEUECTL_HOME: home };
  const worker = spawn(lab.queuectl, ['worker', 'start', '--concurrency', String(MANY_JOBS)], {
    cwd: home,
    env: { ...lab.environment, ...environment },
    stdio: 'ignore',
  });
  const exit = once(worker, 'exit');
  /** Runs jobs that time out, or that fail if `timeout` is null. Returns the delay of the last one in milliseconds. */
  const delayOf = (queue: string, count: number, command: string, timeout: number | null): number => {
    const jobs = Array.from({ length: count }, (_, i) => ({
      ...{ id: `${queue}-${i}`, queue, command, max_retries: 1, cwd: home },
      ...(timeout === null ? {} : { timeout_ms: timeout }),
    }));
    const file = join(home, queue);
    writeFileSync(file, jobs.map((job) => `${JSON.stringify(job)}\n`).join(''));
    runOrThrow(lab, [lab.queuectl, 'enqueue', '--file', file], environment);
    const start = performance.now();
    const list = (state: string): JobTimes[] =>
      JSON.parse(
        runOrThrow(lab, [lab.queuectl, 'list', '--queue', queue, '--state', state, '--json'], environment),
      );
    if (timeout === null) {
      while (list('processing').length < count) Bun.sleepSync(100);
      const failedAt = performance.now();
      writeFileSync(join(home, `${queue}.go`), '');
      while (list('dead').length < count) Bun.sleepSync(20);
      return performance.now() - failedAt;
    }
    while (list('dead').length < count) {
      if (performance.now() - start > 120_000) throw new Error('the jobs do not end');
      Bun.sleepSync(100);
    }
    return Math.max(
      ...list('dead').map((job) => Date.parse(job.finished_at) - Date.parse(job.started_at) - timeout),
    );
  };
  const failOnFile = (name: string): string => `until test -e ${name}.go; do sleep 0.2; done; exit 1`;
  try {
    const rows: Row[] = [];
    const addPair = (what: string, one: number, many: number): void => {
      rows.push({ name: 'endings', what: `one job, ${what}`, value: summarize([one], 'ms') });
      rows.push({
        ...{
          name: 'endings',
          what: `${MANY_JOBS} jobs at once, ${what}, relative to one`,
          value: summarize([many], 'ms'),
        },
        ratio: many / one,
      });
    };
    const timeoutDelay = delayOf('timeout-one', 1, 'sleep 600', TIMEOUT_MS);
    addPair(
      'delay after the timeout',
      timeoutDelay,
      delayOf('timeout-many', MANY_JOBS, 'sleep 600', TIMEOUT_MS),
    );
    const failureDelay = delayOf('fail-one', 1, failOnFile('fail-one'), null);
    addPair(
      'failure to settlement',
      failureDelay,
      delayOf('fail-many', MANY_JOBS, failOnFile('fail-many'), null),
    );
    return rows;
  } finally {
    worker.kill('SIGTERM');
    await exit;
  }
}
