import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, inSandbox, until, untilState } from '../support/queuectl.ts';

/** Whether these tests are permitted to mount a small file system. */
const canMount = (() => {
  const probe = '/tmp/queuectl-mount-probe';
  mkdirSync(probe, { recursive: true });
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', probe]);
  if (status === 0) spawnSync('umount', [probe]);
  rmSync(probe, { recursive: true, force: true });
  return status === 0;
})();

/** Mounts a file system of this size on the directory while `work` runs. */
async function onSmallDisk(directory: string, size: string, work: () => Promise<void>): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  expect(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', directory]).status).toBe(
    0,
  );
  try {
    await work();
  } finally {
    spawnSync('umount', ['-l', directory]);
  }
}

test.skipIf(!canMount)(
  'a job that cannot start on a full disk is not charged an attempt, and runs when there is space',
  inSandbox(async (box) => {
    await box.create();
    const attemptsDirectory = join(box.stateDirectory(), 'attempts');
    await onSmallDisk(attemptsDirectory, '64k', async () => {
      const filler = join(attemptsDirectory, 'filler');
      try {
        writeFileSync(filler, Buffer.alloc(1024 * 1024));
      } catch {
        // The disk is completely full now.
      }
      const workers = await box.startWorkers();
      await enqueue(box, 'job', 'echo ran >>traces', { max_retries: 1 });
      await until(() => workers.output().includes('requeued'), 'the job was requeued');
      expect(await box.json(['show', 'job'])).toMatchObject({ attempts: 0, crashes: 0 });
      rmSync(filler);
      await untilState(box, 'job', 'completed');
      expect(existsSync(join(box.directory, 'traces'))).toBe(true);
      expect(workers.output()).not.toContain('dead');
      await box.run(['worker', 'stop']);
    });
  }),
);

test.skipIf(!canMount)(
  'after a job that fills the disk with output, the next job completes',
  inSandbox(async (box) => {
    await onSmallDisk(box.home, '48m', async () => {
      await box.run(['config', 'set', 'output-limit', '1M']);
      await enqueue(box, 'flood', 'yes 0123456789 | head -c 200000000; echo end', { max_retries: 1 });
      await enqueue(box, 'after', 'true');
      await box.startWorkers();
      await untilState(box, 'after', 'completed', 80_000);
      await box.run(['worker', 'stop', '--force']);
    });
  }),
);

test.skipIf(!canMount)(
  'on a full disk no more jobs start, so that running jobs are settled and jobs can be cancelled and deleted',
  inSandbox(async (box) => {
    await onSmallDisk(box.home, '8m', async () => {
      await box.run(['config', 'set', 'heartbeat-interval', '200ms']);
      const stdin = 'sleep 0.1\n'.repeat(300);
      expect((await box.run(['enqueue', '--file', '-'], { stdin })).code).toBe(0);
      const workers = await box.startWorkers('--concurrency', '4');
      const filler = join(box.home, 'filler');
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k'], { stdio: 'ignore' });
      await until(() => workers.output().includes('disk is almost full'), 'the worker reports the full disk');
      const jobs = async () => (await box.json<{ jobs: Record<string, number> }>(['status'])).jobs;
      await until(async () => (await jobs()).processing === 0, 'the running jobs are settled');
      const { pending, completed } = await jobs();
      expect(pending).toBeGreaterThan(100);
      const [one, two] = (await box.run(['list', '--state', 'pending', '-q'])).stdout.split('\n');
      expect(await box.run(['cancel', one!])).toMatchObject({ code: 0 });
      expect(await box.run(['delete', two!])).toMatchObject({ code: 0 });
      expect(await jobs()).toMatchObject({ pending: pending! - 2, processing: 0, completed });
      expect(workers.output().match(/disk is almost full/g)).toHaveLength(1);
      rmSync(filler);
      await until(async () => (await jobs()).completed === 298, 'the other jobs complete', 60_000);
      expect((await box.run(['worker', 'stop'])).code).toBe(0);
    });
  }),
);

test.skipIf(!canMount)(
  'workers can be stopped on a full disk, and the next workers settle the finished job',
  inSandbox(async (box) => {
    await onSmallDisk(box.home, '600k', async () => {
      const workers = await box.startWorkers();
      await enqueue(box, 'job', 'until test -e go; do sleep 0.05; done; exit 3', { max_retries: 1 });
      await untilState(box, 'job', 'processing');
      const filler = join(box.home, 'filler');
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k']);
      writeFileSync(join(box.directory, 'go'), '');
      await until(() => workers.output().includes('disk is full'), 'a worker reports the full disk');
      process.kill(workers.pid, 'SIGTERM');
      expect(await workers.exit).toBe(0);
      rmSync(filler);
      await box.startWorkers();
      expect(await untilState(box, 'job', 'dead')).toMatchObject({ exit_code: 3, attempts: 1, crashes: 0 });
      await box.run(['worker', 'stop']);
    });
  }),
);

for (const flags of [[], ['--force']])
  test.skipIf(!canMount)(
    `${['worker stop', ...flags].join(' ')} stops the workers by signals if the disk is too full to store the order`,
    inSandbox(async (box) => {
      await onSmallDisk(box.home, '600k', async () => {
        const workers = await box.startWorkers('--count', '2');
        await enqueue(box, 'job', 'until test -e go; do sleep 0.05; done');
        await untilState(box, 'job', 'processing');
        const filler = join(box.home, 'filler');
        spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k']);
        // The -wal may have some space left.
        await until(async () => (await box.run(['enqueue', 'true'])).code === 5, 'the disk is full');
        await until(
          async () => (await box.run(['config', 'set', 'lease', '1m'])).code === 5,
          'the -wal is full',
        );
        const stop = box.start(['worker', 'stop', ...flags]);
        await until(() => stop.output().includes('stopping 2 workers of this host by signals'), 'the note');
        // A worker stops a job only after it has stored that it does.
        if (flags.length === 0) writeFileSync(join(box.directory, 'go'), '');
        else rmSync(filler);
        expect(await stop.closed).toBe(0);
        expect(stop.output()).toContain('the disk is full; stopping 2 workers');
        expect(await workers.exit).toBe(0);
        rmSync(filler, { force: true });
        writeFileSync(join(box.directory, 'go'), '');
        await box.startWorkers();
        expect(await untilState(box, 'job', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
        await box.run(['worker', 'stop']);
      });
    }),
  );
