/** F18 fills the disk of running workers and frees it again: that of the database, of the output, and of both. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lines, sandbox, until } from '../support/queuectl.ts';
import type { Fault, Figures } from './fault.ts';
import { fill, mayMount, mountSmall, unmount } from './mounts.ts';
import { roundDone, startProgress } from './progress.ts';

const MAX_ENQUEUES_ON_FULL = 100;

export const diskFull: Fault = {
  id: 'F18',
  title: 'The disk fills up and is freed again',
  small: 3,
  full: 50,
  missing: () => (mayMount ? null : 'may not mount'),
  run: fillAndFree,
};

async function fillAndFree(cycles: number): Promise<Figures> {
  const violations: Figures['violations'] = [];
  const wrong = (kind: string, what: string): void => void violations.push({ kind, what });
  // Each of these must happen, but not in every cycle: other processes may use the space that the ballast frees.
  const seen = { refused: 0, deleted: 0, 'ballast freed': 0 };
  const box = sandbox();
  const attempts = join(box.home, 'queue.db.d', 'attempts');
  const ballast = join(box.home, 'queue.db.d', 'ballast');
  const traces = join(box.directory, 'traces');
  mountSmall(box.home, 'size=8m');
  const known: string[] = [];
  startProgress(cycles);
  try {
    await box.json(['config', 'set', 'heartbeat-interval', '200ms']);
    mountSmall(attempts, 'size=1m');
    await box.startWorkers('--count', '2');
    const add = async (id: string): Promise<void> => {
      const { code, stderr } = await box.run([
        'enqueue',
        '--id',
        id,
        // Without `|| true` a job whose output finds no space would fail and run again.
        `echo ${id} >>${traces}; echo some output || true`,
      ]);
      if (code === 0) known.push(id);
      else seen.refused++;
      if (code !== 0 && !stderr.includes('disk is full'))
        wrong('unclear', `enqueue ${id}: ${code} ${stderr}`);
    };
    for (let cycle = 0; cycle < cycles; cycle++) {
      await until(() => existsSync(ballast), 'there is a ballast');
      await box.run(['enqueue', '--id', `waits${cycle}`, '--delay', '1h', 'true']);
      for (let i = 0; i < 4; i++) await add(`before${cycle}-${i}`);
      const full = [join(box.home, 'full'), join(attempts, 'full')].filter(
        (_, i) => cycle % 3 === 2 || cycle % 3 === i,
      );
      // The old log and the freed ballast provide some space, so the test adds jobs until one is refused.
      const refused = seen.refused;
      const enough = (i: number): boolean => i >= 4 && (cycle % 3 === 1 || seen.refused > refused);
      for (let i = 0; i < MAX_ENQUEUES_ON_FULL && !enough(i); i++) {
        for (const file of full) fill(file);
        await add(`full${cycle}-${i}`);
      }
      const { code, stderr } = await box.run(['delete', `waits${cycle}`]);
      if (code === 0) seen.deleted++;
      else if (!stderr.includes('disk is full')) wrong('unclear', `delete: ${code} ${stderr}`);
      if (!existsSync(ballast)) seen['ballast freed']++;
      for (const file of full) rmSync(file);
      roundDone();
      await add(`after${cycle}`);
      const missing = (): string[] => {
        const ran = new Set(lines(traces));
        return known.filter((id) => !ran.has(id));
      };
      try {
        await until(() => missing().length === 0, `cycle ${cycle}: every acknowledged job has run`);
      } catch (error) {
        wrong('lost', `${(error as Error).message}: ${missing().join(' ')}`);
        break;
      }
    }
    const ran = lines(traces);
    for (const id of ran.filter((one, i) => ran.indexOf(one) !== i)) wrong('twice', id);
    const completed = async (): Promise<boolean> =>
      (await box.run(['list', '--state', 'completed', '-q'])).stdout.split('\n').length - 1 === known.length;
    await until(completed, 'every job is settled');
    const integrity = (await box.run(['db', 'check'])).stdout.trim();
    if (integrity !== 'ok') wrong('integrity', integrity);
    for (const [what, times] of Object.entries(seen)) if (times === 0) wrong('idle', `nothing was ${what}`);
  } finally {
    await box.run(['worker', 'stop', '--force', '--timeout', '20s']).catch(() => {});
    unmount(attempts);
    unmount(box.home);
    await box.cleanup();
  }
  const notes = `${seen.refused} enqueues refused with a clear error, ${seen.deleted} jobs deleted on the full disk`;
  return { jobs: known.length, faults: cycles, violations, notes };
}
