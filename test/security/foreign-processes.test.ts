import { expect, test as plainTest } from 'bun:test';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { processes } from '../../src/exec/processes.ts';
import { attemptFiles } from '../../src/state/attempt-files.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { startGatedJob } from '../support/gated-job.ts';
import { argumentsOf, isAlive, killAll, processesOfJob, processesWith, uidOf } from '../support/processes.ts';
import {
  configure,
  enqueue,
  inSandbox,
  lines,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';
import { IS_ROOT, type Stranger, startStranger } from '../support/stranger.ts';
import { inTempDir } from '../support/temp-dir.ts';

/** Each attack is tried this many times. TRIES=50 is the full test. */
const TRIES = Number(process.env.TRIES ?? 2);
/** Has the form of a message authentication code, but is made up. */
const MAC = 'a'.repeat(32);

/** Runs a job to its end and returns the epoch and number of its attempt. */
async function runJob(box: Sandbox, id: string): Promise<{ epoch: string; number: number }> {
  const file = join(box.directory, `${id}.run`);
  await enqueue(box, id, `echo $QUEUECTL_RUN >${file}`);
  await box.run(['worker', 'start', '--drain']);
  const [epoch, number] = lines(file)[0]!.split('-');
  return { epoch: epoch!, number: Number(number) };
}

/** Does the work while a process of another user runs, expects that process to survive it, and ends the process. */
async function expectSurvives(stranger: Stranger, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    expect(stranger.child.exitCode).toBeNull();
  } finally {
    stranger.end();
  }
}

/** Returns the name of an attempt. It is in the arguments of the job's frame, where other users can read it. */
function attemptNameOf(box: Sandbox, job: string): string {
  const text = processesOfJob(box, job).flatMap(argumentsOf).join();
  return /attempts\/([0-9a-f]{12}-\d+)\.rec/.exec(text)![1]!;
}

plainTest.concurrent.skipIf(!IS_ROOT)(
  'a process of another user does not change the numbers of attempts',
  inSandbox(async (box) => {
    const { epoch } = await runJob(box, 'first');
    for (let i = 0; i < TRIES; i++) {
      const name = `${epoch}-99999999999${String(i).padStart(4, '0')}`;
      const stranger = await startStranger(
        `QUEUECTL_RUN=${name} sleep 1000 & QUEUECTL_RUN=${name}-${MAC} sleep 1000 & wait`,
      );
      await until(() => processesWith(`QUEUECTL_RUN=${name}-${MAC}`).length > 0, 'it has the cookie');
      await expectSurvives(stranger, async () =>
        expect(await runJob(box, `job${i}`)).toMatchObject({ number: i + 2 }),
      );
    }
  }),
);

test('a process with a cookie of a huge attempt number does not raise the attempt numbers', async (box) => {
  const { epoch } = await runJob(box, 'first');
  const env = { ...process.env, QUEUECTL_HOME: box.home, QUEUECTL_RUN: `${epoch}-999999999999999` };
  const own = spawn('sleep', ['1000'], { env, stdio: 'ignore' });
  expect(await runJob(box, 'second')).toMatchObject({ number: 2 });
  own.kill('SIGKILL');
});

plainTest.concurrent.skipIf(!IS_ROOT)(
  'a process of another user neither delays the cancelling of a job nor gets its signals',
  inSandbox(async (box) => {
    await configure(box, { 'kill-grace': '100ms' });
    await box.startWorkers();
    for (let i = 0; i < TRIES; i++) {
      await startGatedJob(box, `job${i}`);
      const name = attemptNameOf(box, `job${i}`);
      // This shell starts processes all the time, so waiting until none is left would never end.
      const forkLoop = `while :; do QUEUECTL_RUN=${name} sleep 0.2 & sleep 0.01; done`;
      const lasting = await startStranger(`exec env QUEUECTL_RUN=${name} sleep 1000`);
      await expectSurvives(lasting, async () =>
        expectSurvives(await startStranger(forkLoop), async () => {
          await until(
            () => processesWith(`QUEUECTL_RUN=${name}`).length > 2,
            'the processes have the cookie',
          );
          await box.run(['cancel', `job${i}`]);
          await untilState(box, `job${i}`, 'cancelled', 20_000);
        }),
      );
    }
  }),
);

plainTest.concurrent.skipIf(!IS_ROOT)(
  'a process of another user does not make a job count as running after its own processes were killed',
  inSandbox(async (box) => {
    for (let i = 0; i < TRIES; i++) {
      const workers = await box.startWorkers();
      const job = await startGatedJob(box, `job${i}`);
      const name = attemptNameOf(box, job.id);
      await box.run(['worker', 'stop', '--leave']);
      await workers.exit;
      await killAll(processesOfJob(box, job.id));
      // Without the record, a process with the cookie would prove that the command runs.
      rmSync(join(box.home, 'queue.db.d', 'attempts', `${name}.rec`));
      const stranger = await startStranger(`exec env QUEUECTL_RUN=${name} sleep 1000`);
      await expectSurvives(stranger, async () => {
        job.release();
        await box.run(['worker', 'start', '--drain']);
        expect(await box.json(['show', job.id])).toMatchObject({ state: 'completed' });
      });
    }
  }),
);

plainTest.concurrent.skipIf(!IS_ROOT)(
  'a process that a job started as another user ends with the job, even in a session of its own',
  inSandbox(async (box) => {
    await configure(box, { 'kill-grace': '100ms' });
    await box.startWorkers();
    const drop = 'setpriv --reuid 65534 --regid 65534 --clear-groups';
    await enqueue(box, 'job', `setsid ${drop} sleep 1000 & sleep 1000`);
    const findProcess = (): number | undefined =>
      processesOfJob(box, 'job').find((pid) => argumentsOf(pid)[0] === 'sleep' && uidOf(pid) === 65534);
    const pid = await until(findProcess, 'the process runs as another user');
    await box.run(['cancel', 'job']);
    await untilState(box, 'job', 'cancelled');
    expect(isAlive(pid)).toBe(false);
  }),
);

plainTest.skipIf(!IS_ROOT)(
  'an open file named like the output of an attempt does not make a process part of that attempt',
  () =>
    inTempDir(async (directory) => {
      const files = attemptFiles(stateDirectory(join(directory, 'state')), '0123456789ab', 7);
      const fake = mkdtempSync(join(tmpdir(), 'queuectl-fake-'));
      chmodSync(fake, 0o777);
      mkdirSync(join(fake, 'attempts'), { mode: 0o777 });
      chmodSync(join(fake, 'attempts'), 0o777);
      const file = join(fake, 'attempts', basename(files.output));
      const stranger = await startStranger(`umask 077; exec sleep 1000 >${file}`);
      await until(() => argumentsOf(stranger.pid)[0] === 'sleep', 'it has the file open');
      // The search uses the pid as the group of the attempt, as if that pid had been reused.
      expect(processes.find({ cookie: files.cookie, group: stranger.pid })).toEqual([]);
      stranger.end();
      rmSync(fake, { recursive: true });
    }),
);

test('neither the environment of a job nor the arguments of its frame contain the secret key', async (box) => {
  await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  const key = readFileSync(join(box.home, 'queue.db.d', 'key'));
  for (const pid of processesOfJob(box, 'job')) {
    for (const file of ['environ', 'cmdline']) {
      const text = readFileSync(`/proc/${pid}/${file}`);
      expect(text.includes(key) || text.includes(key.toString('hex'))).toBe(false);
    }
  }
  job.release();
  await untilState(box, 'job', 'completed');
});
