import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inControlGroup, whyNoProcessLimit } from '../faults/process-limit.ts';
import { gatedJob } from '../support/gated-job.ts';
import { killAll, processesOfJob, untilHeartbeats, workersOf } from '../support/processes.ts';
import {
  configure,
  EXECUTABLE,
  enqueue,
  type JobJson,
  lines,
  type Running,
  type Sandbox,
  sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';

/** Enough threads and processes for a supervisor and two workers, and some for a job to use up. */
const NPROC = 80;
const JOBS = Array.from({ length: 10 }, (_, i) => `job${i}`);

/** The limit counts by user and exempts root, so each test runs as a user of its own. */
function asUser(uid: number): string[] {
  return ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
}

function unusedUid(): number {
  return 100_000 + Math.floor(Math.random() * 1e9);
}

function canLimit(): boolean {
  const [program, ...args] = [...asUser(unusedUid()), 'prlimit', `--nproc=${NPROC}`, EXECUTABLE, 'version'];
  return process.getuid?.() === 0 && spawnSync(program!, args).status === 0;
}

/**
 * Returns a command that uses up all processes of the user but `free`, and frees them after a line in a pipe. Neither
 * `read` nor `kill` needs a process. The loop ends with its subshell when no process is left, which frees one.
 */
function hog(free: 0 | 1): string {
  const fill = '(while :; do sleep 600 & done) 2>/dev/null';
  const last = free === 0 ? '(sleep 600 &) 2>/dev/null; sleep 600 & ' : '';
  return `mkfifo pipe; ${fill}; ${last}echo full >> hog.log; read line < pipe; trap '' TERM; kill 0; exit 0`;
}

async function withFullUser(
  free: 0 | 1,
  body: (box: Sandbox, workers: Running, release: () => void) => Promise<void>,
): Promise<void> {
  const uid = unusedUid();
  const box = sandbox(asUser(uid));
  try {
    chownSync(box.directory, uid, uid);
    await configure(box, { 'heartbeat-interval': '200ms', 'kill-grace': '300ms' });
    const limited = [...asUser(uid), 'prlimit', `--nproc=${NPROC}`];
    const workers = box.start(['worker', 'start', '--count', '2', '--concurrency', '2'], {
      through: limited,
    });
    await until(async () => (await workersOf(box)).length === 2, 'the workers are ready');
    await enqueue(box, 'hog', hog(free), { max_retries: 1 });
    await until(() => lines(join(box.directory, 'hog.log')).includes('full'), 'all is taken');
    await body(box, workers, () => writeFileSync(join(box.directory, 'pipe'), 'go\n'));
  } finally {
    await box.cleanup();
  }
}

async function enqueueJobs(box: Sandbox): Promise<void> {
  for (const id of JOBS) await enqueue(box, id, `echo run >> ${id}.log`, { max_retries: 1 });
}

/** Expects that each job ran once, by its trace on disk, and that the workers still stop. */
async function expectNothingLost(box: Sandbox, workers: Running): Promise<void> {
  await untilState(box, 'hog', 'completed');
  const waiting = ['pending', 'processing', 'failed'];
  const states = async () => (await box.json<JobJson[]>(['list'])).map((job) => job.state);
  await until(async () => !(await states()).some((state) => waiting.includes(state)), 'all have ended');
  const jobs = await Promise.all(JOBS.map((id) => box.json<JobJson>(['show', id])));
  const ranOnce = { state: 'completed', attempts: 1, crashes: 0, traces: ['run'] };
  expect(
    jobs.map(({ id, state, attempts, crashes }) => {
      return { id, state, attempts, crashes, traces: gatedJob(box, id).traces() };
    }),
  ).toEqual(JOBS.map((id) => ({ id, ...ranOnce })));
  expect((await box.run(['worker', 'stop', '--timeout', '30s'])).code).toBe(0);
  await until(() => workers.child.exitCode === 0, 'the supervisor has ended', 30_000);
}

for (const free of [0, 1] as const) {
  test.skipIf(!canLimit())(`no job is lost when a job uses up all processes of the user but ${free}`, () =>
    withFullUser(free, async (box, workers, release) => {
      await enqueueJobs(box);
      await untilHeartbeats(box, 5);
      release();
      await expectNothingLost(box, workers);
    }),
  );
}

test.skipIf(!canLimit())('a worker that dies while no process is free is replaced, and no job is lost', () =>
  withFullUser(0, async (box, workers, release) => {
    const holder = (await workersOf(box)).find((worker) => worker.current_jobs.includes('hog'))!;
    await killAll([holder.pid]);
    await enqueueJobs(box);
    await untilHeartbeats(box, 5);
    expect(processesOfJob(box, 'hog')).not.toEqual([]);
    release();
    await expectNothingLost(box, workers);
    expect(lines(join(box.directory, 'hog.log'))).toEqual(['full']);
  }),
);

test.skipIf(whyNoProcessLimit() !== null)(
  'a worker that cannot start a single thread or process reports it',
  () =>
    inControlGroup(8, async (through) => {
      const box = sandbox();
      try {
        await enqueue(box, 'job', 'true');
        const workers = box.start(['worker', 'start'], { through });
        await until(() => workers.output().includes('requeued'), 'the log reports that the job was requeued');
        expect(workers.output()).toContain(' ready ');
      } finally {
        await box.cleanup();
      }
    }),
);

test.skipIf(Bun.which('prlimit') === null)(
  'slots for which the limit of open files is too low stay empty, and every job runs once',
  async () => {
    const box = sandbox();
    try {
      const commands = Array.from({ length: 200 }, () => 'sleep 0.5').join('\n');
      expect((await box.run(['enqueue', '--file', '-'], { stdin: commands })).code).toBe(0);
      const workers = box.start(['worker', 'start', '--concurrency', '200', '--drain'], {
        through: ['prlimit', '--nofile=64:64'],
      });
      expect(await workers.closed).toBe(0);
      const jobs = await box.json<JobJson[]>(['list']);
      expect(jobs.filter((job) => job.state === 'completed' && job.attempts === 1)).toHaveLength(200);
      // Most jobs are requeued at the start, when all slots are tried.
      expect(workers.output().split('requeued').length - 1).toBeLessThan(600);
    } finally {
      await box.cleanup();
    }
  },
);
