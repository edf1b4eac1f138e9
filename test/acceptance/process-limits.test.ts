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

/** Enough for the threads and processes of a supervisor and two workers, and some more that a job can use up. */
const PROCESS_LIMIT = 80;
const JOB_IDS = Array.from({ length: 20 }, (_, i) => `job${i}`);

/**
 * Returns a value of RunOptions.through that runs queuectl as this user. The limit counts the processes of a user and
 * exempts root, so each test has a user of its own.
 */
function asUser(uid: number): string[] {
  return ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
}

function unusedUid(): number {
  return 100_000 + Math.floor(Math.random() * 1e9);
}

function canLimit(): boolean {
  const limit = ['prlimit', `--nproc=${PROCESS_LIMIT}`];
  const [program, ...args] = [...asUser(unusedUid()), ...limit, EXECUTABLE, 'version'];
  return process.getuid?.() === 0 && spawnSync(program!, args).status === 0;
}

/** Appends a line to the file of a job, without a process of its own. */
const TRACE_SCRIPT = '#!/bin/sh\necho run >> "$1.log"\n';
/** Every kind of command. None of these needs a process after its first program, for which it has the job's whole shell. */
const KINDS: ((id: string) => object)[] = [
  (id) => ({ command: `echo run >> ${id}.log` }),
  (id) => ({ command: `./trace.sh ${id}` }),
  (id) => ({ command: `test -e nothing || ./trace.sh ${id}` }),
  (id) => ({ argv: ['./trace.sh', id] }),
  (id) => ({ command: `cd . && exec ./trace.sh ${id}` }),
];

/**
 * Returns a command that starts processes until its user can start only `free` more. It kills them when it reads a line
 * from `pipe`. `read` and `kill` need no process. The subshell exits when it cannot fork, which frees one process.
 */
function hogCommand(free: number): string {
  const spare = 'sleep 600 & set -- $! $@; '.repeat(Math.max(0, free - 1));
  const fill = '(while :; do sleep 600 & done) 2>/dev/null';
  const last = free === 0 ? '(sleep 600 &) 2>/dev/null; sleep 600 & ' : free > 1 ? 'kill $@; wait $@; ' : '';
  return `mkfifo pipe; ${spare}${fill}; ${last}echo full >> hog.log; read line < pipe; trap '' TERM; kill 0; exit 0`;
}

/** Runs `body` while a job lets its user start only `free` more processes. `release` ends that job. */
async function withFreeProcesses(
  free: number,
  body: (box: Sandbox, workers: Running, release: () => void) => Promise<void>,
): Promise<void> {
  const uid = unusedUid();
  const box = sandbox(asUser(uid));
  try {
    chownSync(box.directory, uid, uid);
    writeFileSync(join(box.directory, 'trace.sh'), TRACE_SCRIPT, { mode: 0o755 });
    await configure(box, { 'heartbeat-interval': '200ms', 'kill-grace': '300ms' });
    const limited = [...asUser(uid), 'prlimit', `--nproc=${PROCESS_LIMIT}`];
    const workers = box.start(['worker', 'start', '--count', '2', '--concurrency', '2'], {
      through: limited,
    });
    await until(async () => (await workersOf(box)).length === 2, 'the workers are ready');
    await enqueue(box, 'hog', hogCommand(free), { max_retries: 1 });
    await until(() => lines(join(box.directory, 'hog.log')).includes('full'), 'all processes are used up');
    await body(box, workers, () => writeFileSync(join(box.directory, 'pipe'), 'go\n'));
  } finally {
    await box.cleanup();
  }
}

async function enqueueJobs(box: Sandbox): Promise<void> {
  const common = { max_retries: 1, on_complete: './trace.sh hook' };
  const jobs = JOB_IDS.map((id, i) => ({ id, ...common, ...KINDS[i % KINDS.length]!(id) }));
  const stdin = jobs.map((job) => JSON.stringify(job)).join('\n');
  expect(await box.run(['enqueue', '--file', '-'], { stdin })).toMatchObject({ code: 0 });
}

/** Expects that each job ran once, by its trace on disk, and that the workers still stop. */
async function expectNothingLost(box: Sandbox, workers: Running): Promise<void> {
  await untilState(box, 'hog', 'completed');
  const ongoing = ['pending', 'processing', 'failed'];
  const states = async () => (await box.json<JobJson[]>(['list'])).map((job) => job.state);
  await until(async () => !(await states()).some((state) => ongoing.includes(state)), 'all jobs have ended');
  const jobs = await box.json<JobJson[]>(['list', '--queue', 'default']);
  const ranOnce = { state: 'completed', attempts: 1, crashes: 0, traces: ['run'] };
  expect(
    jobs
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .filter(({ id }) => id !== 'hog')
      .map(({ id, state, attempts, crashes }) => {
        return { id, state, attempts, crashes, traces: gatedJob(box, id).traces() };
      }),
  ).toEqual(JOB_IDS.toSorted().map((id) => ({ id, ...ranOnce })));
  const hooks = await box.json<JobJson[]>(['list', '--queue', 'hooks']);
  const hookResults = hooks.map(({ state, attempts }) => `${state} ${attempts}`);
  expect(hookResults).toEqual(JOB_IDS.map(() => 'completed 1'));
  expect(lines(join(box.directory, 'hook.log'))).toHaveLength(JOB_IDS.length);
  expect((await box.run(['worker', 'stop', '--timeout', '30s'])).code).toBe(0);
  await until(() => workers.child.exitCode === 0, 'the supervisor has ended', 30_000);
}

for (const free of [0, 1, 2]) {
  test.skipIf(!canLimit())(`no job is lost while the user has ${free} free processes`, () =>
    withFreeProcesses(free, async (box, workers, release) => {
      await enqueueJobs(box);
      await untilHeartbeats(box, 5);
      release();
      await expectNothingLost(box, workers);
    }),
  );
}

test.skipIf(!canLimit())('a worker that dies while no process is free is replaced, and no job is lost', () =>
  withFreeProcesses(0, async (box, workers, release) => {
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
  'a worker that cannot start a process for a job requeues the job and logs it',
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
  'with more slots than the limit of open files allows, every job completes in one attempt',
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
      // The worker fills all slots at the start, which requeues most jobs. It must not requeue them again and again.
      expect(workers.output().split('requeued').length - 1).toBeLessThan(600);
    } finally {
      await box.cleanup();
    }
  },
);
