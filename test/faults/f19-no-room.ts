import { deepEqual, equal } from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';
import type { Fault } from './fault.ts';
import { mayMount, mountSmall, unmount } from './mounts.ts';
import { expectRefused, playScenes } from './scenes.ts';
import { hasTool } from './syscalls.ts';

/** Uses up all inodes. The next job is requeued uncharged, and runs when there are inodes again. */
async function noInodes(box: Sandbox): Promise<void> {
  mountSmall(box.home, 'size=8m,nr_inodes=40');
  try {
    await enqueue(box, 'first', 'true');
    const workers = await box.startWorkers();
    await untilState(box, 'first', 'completed');
    const clutter = join(box.home, 'clutter');
    mkdirSync(clutter);
    try {
      for (let i = 0; ; i++) writeFileSync(join(clutter, String(i)), '');
    } catch {
      // No inode is left.
    }
    const traces = join(box.directory, 'traces');
    await enqueue(box, 'second', `echo ran >>${traces}`, { max_retries: 1 });
    await until(() => workers.output().includes('requeued'), 'the job is requeued');
    rmSync(clutter, { recursive: true });
    const { attempts, crashes } = await untilState(box, 'second', 'completed');
    deepEqual({ attempts, crashes }, { attempts: 1, crashes: 0 });
    deepEqual(lines(traces), ['ran']);
    await box.run(['worker', 'stop']);
  } finally {
    unmount(box.home);
  }
}

/** Limits the size of files. The error must be reported, and no process may be killed by a signal. */
async function limitFileSize(box: Sandbox): Promise<void> {
  const limited = (size: number) => ({ through: ['prlimit', `--fsize=${size}`] });
  await enqueue(box, 'there', 'true');
  writeFileSync(join(box.directory, 'jobs'), `echo ${'x'.repeat(20_000)}\n`.repeat(20));
  for (const size of [0, 4096, 100_000])
    expectRefused(await box.run(['enqueue', '--file', 'jobs'], limited(size)), 5, /queue\.db/);
  equal((await box.json<unknown[]>(['list'])).length, 1);
  equal((await box.run(['db', 'check'])).stdout, 'ok\n');
  equal((await box.run(['worker', 'start', '--drain'])).code, 0);
  await untilState(box, 'there', 'completed');
}

const SCENES = {
  ...(mayMount ? { 'no inodes': noInodes } : {}),
  ...(hasTool('prlimit') ? { 'a limit on file sizes': limitFileSize } : {}),
};

export const noRoom: Fault = {
  id: 'F19',
  title: 'No inodes left, or a limit on file sizes',
  small: Object.keys(SCENES).length,
  full: 20,
  whySkipped: () => (Object.keys(SCENES).length > 0 ? null : 'may not mount, no prlimit'),
  run: (rounds) => playScenes(SCENES, rounds),
};
