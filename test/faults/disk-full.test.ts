import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, inSandbox, lines, until, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { diskFull } from './f18-disk-full.ts';
import { mayMount, mountSmall, unmount } from './mounts.ts';

test.skipIf(!mayMount)(
  'F18, small: a disk that fills up and is freed again; deleting works on it',
  async () => {
    const figures = await diskFull(3, 1);
    expect(figures).toMatchObject({ lost: [], runTwice: [], unclear: [], integrity: 'ok' });
    // Not always: what the ballast left free, others may have taken by then.
    expect(figures.deleted).toBeGreaterThan(0);
    expect(figures.ballastFreed).toBeGreaterThan(0);
    expect(figures.refused).toBeGreaterThan(0);
  },
);

async function mounted(directory: string, options: string, work: () => Promise<void>): Promise<void> {
  mountSmall(directory, options);
  try {
    await work();
  } finally {
    unmount(directory);
  }
}

test.skipIf(!mayMount)(
  'F19: no inodes left: the job is given back uncharged, and runs when there are some',
  inSandbox(async (box) => {
    await mounted(box.home, 'size=8m,nr_inodes=40', async () => {
      await enqueue(box, 'first', 'true');
      const workers = await box.startWorkers();
      await untilState(box, 'first', 'completed');
      const clutter = join(box.home, 'clutter');
      mkdirSync(clutter);
      try {
        for (let i = 0; ; i++) writeFileSync(join(clutter, String(i)), '');
      } catch {
        // None is left.
      }
      await enqueue(box, 'second', `echo ran >>${join(box.directory, 'traces')}`, { max_retries: 1 });
      await until(() => workers.output().includes('put back'), 'it is given back');
      rmSync(clutter, { recursive: true });
      expect(await untilState(box, 'second', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
      expect(lines(join(box.directory, 'traces'))).toEqual(['ran']);
      await box.run(['worker', 'stop']);
    });
  }),
);

test(
  'F19: a limit on the size of files is an error that is told, not a signal',
  inSandbox(async (box) => {
    const limited = (size: number) => ({ through: ['prlimit', `--fsize=${size}`] });
    expect((await box.run(['enqueue', '--id', 'there', 'true'])).code).toBe(0);
    writeFileSync(join(box.directory, 'jobs'), `echo ${'x'.repeat(20_000)}\n`.repeat(20));
    for (const size of [0, 4096, 100_000])
      expectRefusal(await box.run(['enqueue', '--file', 'jobs'], limited(size)), 5, /queue\.db/);
    expect(await box.json<unknown[]>(['list'])).toHaveLength(1);
    expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
    expect((await box.run(['worker', 'start', '--drain'])).code).toBe(0);
    expect(await box.json(['show', 'there'])).toMatchObject({ state: 'completed' });
  }),
);

test.skipIf(!mayMount)(
  'F20: a store that is moved away: workers say so, make none elsewhere, do not spin, and go on when it is back',
  inSandbox(async (box) => {
    await box.json(['config', 'set', 'heartbeat-interval', '200ms']);
    const workers = await box.startWorkers();
    const away = join(box.directory, 'away');
    renameSync(box.home, away);
    const restarts = (): number => workers.output().split('starting another').length - 1;
    await until(() => restarts() > 2, 'the workers notice');
    expect(workers.output()).toMatch(/error: .*(removed or replaced|no such file)/);
    const from = performance.now();
    const before = restarts();
    await until(() => performance.now() - from > 2000, 'two seconds pass');
    expect(restarts() - before).toBeLessThan(8);
    expect(existsSync(box.home)).toBe(false);
    renameSync(away, box.home);
    await enqueue(box, 'after', 'true');
    await untilState(box, 'after', 'completed');
    expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
  }),
);

test.skipIf(!mayMount)(
  'F20: a read-only file system: a clear error, and no job is charged for it',
  inSandbox(async (box) => {
    const workers = await box.startWorkers();
    await enqueue(box, 'due', 'true', { delay: 1, max_retries: 1 });
    for (const args of [
      ['--bind', box.home, box.home],
      ['-o', 'remount,bind,ro', box.home],
    ])
      expect(spawnSync('mount', args).status).toBe(0);
    try {
      for (const command of [['enqueue', 'true'], ['list'], ['delete', 'due']])
        expectRefusal(await box.run(command), 6, /read-only|cannot be written/);
      await until(() => workers.output().includes('put back'), 'it could not be started');
    } finally {
      unmount(box.home);
    }
    expect(await untilState(box, 'due', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
  }),
);

const asNobody =
  process.getuid!() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];

test(
  'F20: a state directory that may not be entered any more costs no job an attempt',
  inSandbox(async (box) => {
    chmodSync(box.directory, 0o777);
    const home = { cwd: '/', through: asNobody };
    const run = (...args: string[]) => box.run(args, home);
    expect((await run('enqueue', '--id', 'before', '--cwd', '/', 'true')).code).toBe(0);
    const workers = box.start(['worker', 'start'], home);
    await until(
      async () => (await run('list', '--state', 'completed', '-q')).stdout === 'before\n',
      'it works',
    );
    const attempts = join(box.home, 'queue.db.d', 'attempts');
    chmodSync(attempts, 0);
    expect((await run('enqueue', '--id', 'job', '--cwd', '/', '--max-retries', '1', 'true')).code).toBe(0);
    await until(() => workers.output().includes('put back'), 'it is given back');
    chmodSync(attempts, 0o700);
    await until(
      async () => (await run('list', '--state', 'completed', '-q')).stdout.includes('job'),
      'it has run',
    );
    await run('worker', 'stop', '--force');
  }),
);
