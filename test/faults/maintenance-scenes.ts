import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/queuectl.ts';
import type { Crash } from './crash.ts';
import type { Lab } from './lab.ts';
import { fill, mountSmall, unmount } from './mounts.ts';

/** The size of the job's output, which is large enough to be kept in a file. */
const OUTPUT_BYTES = 300_000;

/**
 * Backs up, restores, exports and imports a queue with output in a file. Expects the output in each copy. It does not use
 * the queue of the lab, because a backup refuses a store with the triggers of the audit.
 */
export async function copyWithOutput(lab: Lab, crash: Crash): Promise<void> {
  const [queue, copy, imported, restored] = ['queue.db', 'copy.db', 'imported.db', 'restored.db'].map(
    (name) => join(lab.box.directory, name),
  );
  const exportFile = join(lab.box.directory, 'queue.jsonl');
  const command = `head -c ${OUTPUT_BYTES} /dev/zero | tr '\\0' x`;
  await crash.run('--db', queue!, 'enqueue', '--id', 'flood', '--command', command);
  await lab.box.run(['--db', queue!, 'worker', 'start', '--drain']);
  await crash.run('--db', queue!, 'backup', '--force', '--with-output', copy!);
  await crash.run('--db', queue!, 'restore', '--yes', copy!);
  await crash.run('--db', restored!, 'restore', '--yes', copy!);
  writeFileSync(exportFile, (await lab.box.run(['--db', queue!, 'export'])).stdout);
  await crash.run('--db', imported!, 'import', '--on-conflict', 'skip', exportFile);
  for (const db of [queue!, copy!, imported!, restored!]) {
    const { stdout } = await lab.box.run(['--db', db, 'logs', 'flood']);
    if (stdout.length !== OUTPUT_BYTES) throw new Error(`${db}: ${stdout.length} bytes of output`);
    await expectIntact(lab, db);
  }
}

/** Deletes a job on a full disk. The delete needs the space of the ballast file. */
export async function deleteOnFullDisk(lab: Lab, crash: Crash): Promise<void> {
  const disk = join(lab.box.directory, 'disk');
  const db = join(disk, 'queue.db');
  const add = (id: string, size: number) =>
    lab.box.run([
      '--db',
      db,
      'enqueue',
      '--id',
      id,
      '--delay',
      '1h',
      '--command',
      `echo ${'x'.repeat(size)}`,
    ]);
  mountSmall(disk, 'size=8m');
  try {
    await add('goes', 1);
    const workers = lab.box.start(['--db', db, 'worker', 'start']);
    await until(() => existsSync(join(`${db}.d`, 'ballast')), 'there is a ballast');
    // A stop does not reach a worker that has not registered yet.
    await until(() => workers.output().includes(' ready '), 'the worker is ready');
    fill(join(disk, 'full'));
    // Small jobs use up the space that is left inside the files of the database.
    for (const size of [50_000, 1]) for (let i = 0; (await add(`${size}-${i}`, size)).code === 0; i++);
    await crash.run('--db', db, 'delete', 'goes');
    rmSync(join(disk, 'full'));
    await lab.box.run(['--db', db, 'worker', 'stop']);
    await workers.exit;
    if ((await lab.box.run(['--db', db, 'show', 'goes'])).code === 0)
      throw new Error('the deleted job is still there');
    await expectIntact(lab, db);
  } finally {
    unmount(disk);
  }
}

async function expectIntact(lab: Lab, db: string): Promise<void> {
  const { stdout } = await lab.box.run(['--db', db, 'db', 'check']);
  if (stdout !== 'ok\n') throw new Error(`${db}: ${stdout}`);
}
