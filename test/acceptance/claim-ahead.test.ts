import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStopped } from '../faults/process-control.ts';
import { gatedCommand, gatedJob } from '../support/gated-job.ts';
import { isAlive, sendSignal, workersOf } from '../support/processes.ts';
import { configure, inSandbox, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';

/** Enqueues commands that run for a moment, so that their worker begins to claim ahead, and then the given jobs. */
async function enqueueBehindShortJobs(
  box: Sandbox,
  jobs: { id: string; command: string; at_most_once?: true }[],
  prefix = 'short',
): Promise<void> {
  const short = Array.from({ length: 60 }, (_, i) => ({ id: `${prefix}-${i}`, command: 'true' }));
  const file = join(box.directory, 'jobs.jsonl');
  writeFileSync(file, [...short, ...jobs].map((job) => `${JSON.stringify(job)}\n`).join(''));
  expect((await box.run(['enqueue', '--file', file])).code).toBe(0);
}

const states = async (box: Sandbox): Promise<Record<string, number>> =>
  (await box.json<{ jobs: Record<string, number> }>(['status'])).jobs;

test('a job that was claimed behind a long one is given back, and another worker runs it', () =>
  inSandbox(async (box) => {
    const long = gatedJob(box, 'long');
    await enqueueBehindShortJobs(box, [
      { id: 'long', command: gatedCommand('long') },
      { id: 'behind', command: 'echo ran >> behind.log' },
      { id: 'once', command: 'true', at_most_once: true },
    ]);
    await box.startWorkers('--count', '1', '--concurrency', '1');
    await until(() => long.traces().includes('start'), 'the long job runs');
    await until(async () => (await states(box)).processing === 1, 'only the long job is being processed');
    await box.startWorkers('--count', '1', '--concurrency', '1');
    const { attempts } = await untilState(box, 'behind', 'completed');
    expect(long.traces()).toEqual(['start']);
    expect(attempts).toBe(1);
    expect(lines(join(box.directory, 'behind.log'))).toEqual(['ran']);
    long.release();
    await untilState(box, 'long', 'completed');
    // A job that must not be started twice was claimed only for a free slot.
    await untilState(box, 'once', 'completed');
    const { stdout } = await box.run(['events', '--since', '0']);
    const ofOnce = stdout.split('\n').filter((line) => line.includes('"once"') && line.includes('"started"'));
    expect(ofOnce).toHaveLength(1);
  })());

test('a job that is given back starts at once on an idle worker, without polling', () =>
  inSandbox(async (box) => {
    await configure(box, { lease: '1d', 'heartbeat-interval': '10m', 'poll-interval': '1h' });
    await box.startWorkers('--count', '3', '--concurrency', '1');
    // In most rounds, one worker claims several of the long jobs.
    for (let round = 0; round < 4; round++) {
      const long = [1, 2, 3].map((i) => gatedJob(box, `long-${round}-${i}`));
      await enqueueBehindShortJobs(
        box,
        [1, 2, 3].map((i) => ({ id: `long-${round}-${i}`, command: gatedCommand(`long-${round}-${i}`) })),
        `round-${round}`,
      );
      await until(() => long.every((job) => job.traces().includes('start')), 'all long jobs run');
      for (const job of long) job.release();
      await until(async () => (await states(box)).completed === 63 * (round + 1), 'all jobs have ended');
    }
  })());

test('a worker that is stopped gives back what it has claimed ahead, and every job runs once', () =>
  inSandbox(async (box) => {
    const jobs = Array.from({ length: 300 }, (_, i) => ({ id: `job-${i}`, command: `echo ${i} >> ran.log` }));
    await enqueueBehindShortJobs(box, jobs);
    for (let ran = 50; ran <= 250; ran += 100) {
      const workers = await box.startWorkers('--count', '2', '--concurrency', '2');
      await until(() => lines(join(box.directory, 'ran.log')).length >= ran, `${ran} jobs have run`);
      expect((await box.run(['worker', 'stop'])).code).toBe(0);
      await workers.exit;
      expect((await states(box)).processing).toBe(0);
    }
    const { code } = await box.run(['worker', 'start', '--drain']);
    expect(code).toBe(0);
    const ran = lines(join(box.directory, 'ran.log')).map(Number);
    expect(ran.sort((a, b) => a - b)).toEqual(jobs.map((_, i) => i));
    expect((await states(box)).completed).toBe(360);
  })());

test('the jobs that a frozen worker has claimed ahead are run by another worker after the lease', () =>
  inSandbox(async (box) => {
    await configure(box, { 'heartbeat-interval': '200ms', 'kill-grace': '200ms', lease: '4s' });
    const jobs = Array.from({ length: 200 }, (_, i) => ({ id: `job-${i}`, command: `echo ${i} >> ran.log` }));
    await enqueueBehindShortJobs(box, jobs);
    // The worker is frozen just after a claim, when it knows that jobs are short.
    const env = { QUEUECTL_CRASH_AT: 'after-claim:15:stop' };
    const supervisor = box.start(['worker', 'start', '--concurrency', '2'], { env });
    const [frozen] = await until(async () => {
      const workers = await workersOf(box);
      return workers.length === 1 && workers.every(({ pid }) => isStopped(pid)) && workers;
    }, 'the worker is frozen');
    // Its supervisor must not replace it when it continues.
    sendSignal([supervisor.pid], 'SIGSTOP');
    await box.startWorkers('--count', '1', '--concurrency', '2');
    await until(async () => (await states(box)).completed === 260, 'all jobs have completed', 60_000);
    sendSignal([frozen!.pid], 'SIGCONT');
    await until(() => !isAlive(frozen!.pid), 'the frozen worker has ended');
    sendSignal([supervisor.pid], 'SIGCONT');
    const ran = lines(join(box.directory, 'ran.log')).map(Number);
    expect(ran.sort((a, b) => a - b)).toEqual(jobs.map((_, i) => i));
  })());
