import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, type Sandbox, until, untilState } from '../support/queuectl.ts';
import type { Fault } from './fault.ts';
import { mayMount, unmount } from './mounts.ts';
import { expectRefused, playScenes, type Scene } from './scenes.ts';

/** Moves the store away. Workers must report it, create no other store, restart rarely, and continue when it is back. */
async function movedAway(box: Sandbox): Promise<void> {
  await box.json(['config', 'set', 'heartbeat-interval', '200ms']);
  const workers = await box.startWorkers();
  const away = join(box.directory, 'away');
  renameSync(box.home, away);
  const restarts = (): number => workers.output().split('starting a replacement').length - 1;
  await until(() => restarts() > 2, 'the workers report the missing store');
  match(workers.output(), /error: .*(removed or replaced|no such file)/);
  const start = performance.now();
  const restartsBefore = restarts();
  await until(() => performance.now() - start > 2000, 'two seconds pass');
  ok(restarts() - restartsBefore < 8, `${restarts() - restartsBefore} restarts in two seconds`);
  equal(existsSync(box.home), false);
  renameSync(away, box.home);
  await enqueue(box, 'after', 'true');
  await untilState(box, 'after', 'completed');
  equal((await box.run(['db', 'check'])).stdout, 'ok\n');
}

/** Makes the store read-only. Commands must report it, and an attempt that cannot start is not charged. */
async function readOnly(box: Sandbox): Promise<void> {
  const workers = await box.startWorkers();
  await enqueue(box, 'due', 'true', { delay: 1, max_retries: 1 });
  for (const args of [
    ['--bind', box.home, box.home],
    ['-o', 'remount,bind,ro', box.home],
  ])
    equal(spawnSync('mount', args).status, 0);
  try {
    for (const command of [['enqueue', 'true'], ['list'], ['delete', 'due']])
      expectRefused(await box.run(command), 6, /read-only|is not writable/);
    await until(() => workers.output().includes('requeued'), 'the job is requeued');
  } finally {
    unmount(box.home);
  }
  const { attempts, crashes } = await untilState(box, 'due', 'completed');
  deepEqual({ attempts, crashes }, { attempts: 1, crashes: 0 });
}

/** A command prefix that switches from root to another user, because root may use every directory. Otherwise empty. */
const AS_NOBODY =
  process.getuid!() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];

/** Removes all permissions of the `attempts` directory. An attempt that cannot start is not charged. */
async function inaccessible(box: Sandbox): Promise<void> {
  chmodSync(box.directory, 0o1777);
  const options = { cwd: '/', through: AS_NOBODY };
  const run = (...args: string[]) => box.run(args, options);
  const done = async (): Promise<string> => (await run('list', '--state', 'completed', '-q')).stdout;
  equal((await run('enqueue', '--id', 'before', '--cwd', '/', 'true')).code, 0);
  const workers = box.start(['worker', 'start'], options);
  await until(async () => (await done()) === 'before\n', 'the first job has completed');
  const attempts = join(box.home, 'queue.db.d', 'attempts');
  chmodSync(attempts, 0);
  equal((await run('enqueue', '--id', 'job', '--cwd', '/', '--max-retries', '1', 'true')).code, 0);
  await until(() => workers.output().includes('requeued'), 'the second job is requeued');
  chmodSync(attempts, 0o700);
  await until(async () => (await done()).includes('job'), 'the second job has completed');
  await run('worker', 'stop', '--force');
}

const SCENES: Record<string, Scene> = {
  'moved away and back': movedAway,
  ...(mayMount ? { 'a read-only file system': readOnly } : {}),
  'an inaccessible directory': inaccessible,
};

export const storeAway: Fault = {
  id: 'F20',
  title: 'The database is moved away, made read-only or made inaccessible while workers run',
  small: Object.keys(SCENES).length,
  full: 20,
  run: (rounds) => playScenes(SCENES, rounds),
};
