/** F18: the disk fills up and is freed again, under running workers: for the database, for the output of jobs, for both. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lines, sandbox, until } from '../support/queuectl.ts';
import { fill, mountSmall, unmount } from './mounts.ts';

export interface DiskFullFigures {
  cycles: number;
  acknowledged: number;
  refused: number;
  /** Acknowledged, and not run. */
  lost: string[];
  runTwice: string[];
  /** What a command said that is neither done nor "disk is full". */
  unclear: string[];
  /** Jobs that could be deleted while the disk was full. */
  deleted: number;
  ballastFreed: number;
  integrity: string;
}

export async function diskFull(scale: number, _seed: number): Promise<DiskFullFigures> {
  const figures: DiskFullFigures = {
    ...{ cycles: scale, acknowledged: 0, refused: 0, lost: [], runTwice: [], unclear: [] },
    ...{ deleted: 0, ballastFreed: 0, integrity: '' },
  };
  const box = sandbox();
  const attempts = join(box.home, 'queue.db.d', 'attempts');
  const ballast = join(box.home, 'queue.db.d', 'ballast');
  const traces = join(box.directory, 'traces');
  mountSmall(box.home, 'size=8m');
  const known: string[] = [];
  try {
    await box.json(['config', 'set', 'heartbeat-interval', '200ms']);
    mountSmall(attempts, 'size=1m');
    await box.startWorkers('--count', '2');
    const add = async (id: string): Promise<void> => {
      const { code, stderr } = await box.run([
        'enqueue',
        '--id',
        id,
        // Whose output finds no room has failed, and is tried again: that is no fault of ours.
        `echo ${id} >>${traces}; echo some output || true`,
      ]);
      if (code === 0) known.push(id);
      else figures.refused++;
      if (code !== 0 && !stderr.includes('disk is full'))
        figures.unclear.push(`enqueue ${id}: ${code} ${stderr}`);
    };
    for (let cycle = 0; cycle < scale; cycle++) {
      await until(() => existsSync(ballast), 'there is a ballast');
      await box.run(['enqueue', '--id', `waits${cycle}`, '--delay', '1h', 'true']);
      for (let i = 0; i < 4; i++) await add(`before${cycle}-${i}`);
      const full = [join(box.home, 'full'), join(attempts, 'full')].filter(
        (_, i) => cycle % 3 === 2 || cycle % 3 === i,
      );
      for (const file of full) fill(file);
      for (let i = 0; i < 4; i++) await add(`full${cycle}-${i}`);
      const { code, stderr } = await box.run(['delete', `waits${cycle}`]);
      if (code === 0) figures.deleted++;
      else if (!stderr.includes('disk is full')) figures.unclear.push(`delete: ${code} ${stderr}`);
      if (!existsSync(ballast)) figures.ballastFreed++;
      for (const file of full) rmSync(file);
      await add(`after${cycle}`);
      const missing = (): string[] => {
        const ran = new Set(lines(traces));
        return known.filter((id) => !ran.has(id));
      };
      try {
        await until(() => missing().length === 0, `cycle ${cycle}: every acknowledged job has run`);
      } catch (error) {
        figures.lost.push(`${(error as Error).message}: ${missing().join(' ')}`);
        break;
      }
    }
    figures.acknowledged = known.length;
    const ran = lines(traces);
    figures.runTwice = ran.filter((id, i) => ran.indexOf(id) !== i);
    const completed = async (): Promise<boolean> =>
      (await box.run(['list', '--state', 'completed', '-q'])).stdout.split('\n').length - 1 === known.length;
    await until(completed, 'every job is settled');
    figures.integrity = (await box.run(['db', 'check'])).stdout.trim();
  } finally {
    await box.run(['worker', 'stop', '--force', '--timeout', '20s']).catch(() => {});
    unmount(attempts);
    unmount(box.home);
    await box.cleanup();
  }
  return figures;
}
