import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lines, sandbox, until } from '../support/queuectl.ts';
import type { Fault, Figures } from './fault.ts';
import { fill, mayMount, mountSmall, unmount } from './mounts.ts';
import { roundDone, startProgress } from './progress.ts';

const MAX_ENQUEUES_ON_FULL = 100;

/** Fills the disk of the database, of the output or of both while workers run, and frees it again. */
export const diskFull: Fault = {
  id: 'F18',
  title: 'The disk fills up and is freed again',
  small: 3,
  full: 50,
  whySkipped: () => (mayMount ? null : 'may not mount'),
  run: fillAndFree,
};

async function fillAndFree(cycles: number): Promise<Figures> {
  const violations: Figures['violations'] = [];
  const addViolation = (kind: string, what: string): void => void violations.push({ kind, what });
  // Each of these must happen, but not in every cycle: other processes may use the space that the ballast frees.
  const counts = { refused: 0, deleted: 0, 'ballast freed': 0 };
  const box = sandbox();
  const attempts = join(box.home, 'queue.db.d', 'attempts');
  const ballast = join(box.home, 'queue.db.d', 'ballast');
  const hasBallast = (): boolean => (statSync(ballast, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const traces = join(box.directory, 'traces');
  // The database grows with every cycle, and at the end there must still be room for a ballast.
  mountSmall(box.home, 'size=12m');
  const acknowledged: string[] = [];
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
      if (code === 0) acknowledged.push(id);
      else counts.refused++;
      if (code !== 0 && !stderr.includes('disk is full'))
        addViolation('unclear', `enqueue ${id}: ${code} ${stderr}`);
    };
    for (let cycle = 0; cycle < cycles; cycle++) {
      await until(hasBallast, 'there is a ballast');
      await box.run(['enqueue', '--id', `waits${cycle}`, '--delay', '1h', 'true']);
      for (let i = 0; i < 4; i++) await add(`before${cycle}-${i}`);
      const fillers = [join(box.home, 'full'), join(attempts, 'full')].filter(
        (_, i) => cycle % 3 === 2 || cycle % 3 === i,
      );
      // The old WAL and the freed ballast provide some space, so jobs are added until one is refused. In every third
      // cycle only the disk of the output is full, and no job is refused.
      const refusedBefore = counts.refused;
      const enough = (i: number): boolean => i >= 4 && (cycle % 3 === 1 || counts.refused > refusedBefore);
      for (let i = 0; i < MAX_ENQUEUES_ON_FULL && !enough(i); i++) {
        for (const file of fillers) fill(file);
        await add(`full${cycle}-${i}`);
      }
      const { code, stderr } = await box.run(['delete', `waits${cycle}`]);
      if (code === 0) counts.deleted++;
      else if (!stderr.includes('disk is full')) addViolation('unclear', `delete: ${code} ${stderr}`);
      if (!hasBallast()) counts['ballast freed']++;
      for (const file of fillers) rmSync(file);
      roundDone();
      await add(`after${cycle}`);
      const notRun = (): string[] => {
        const ran = new Set(lines(traces));
        return acknowledged.filter((id) => !ran.has(id));
      };
      try {
        await until(() => notRun().length === 0, `cycle ${cycle}: every acknowledged job has run`);
      } catch (error) {
        addViolation('lost', `${(error as Error).message}: ${notRun().join(' ')}`);
        break;
      }
    }
    const ran = lines(traces);
    for (const id of ran.filter((one, i) => ran.indexOf(one) !== i)) addViolation('twice', id);
    const completed = async (): Promise<boolean> =>
      (await box.run(['list', '--state', 'completed', '-q'])).stdout.split('\n').length - 1 ===
      acknowledged.length;
    await until(completed, 'every job is settled');
    const integrity = (await box.run(['db', 'check'])).stdout.trim();
    if (integrity !== 'ok') addViolation('integrity', integrity);
    for (const [what, times] of Object.entries(counts))
      if (times === 0) addViolation('idle', `nothing was ${what}`);
  } finally {
    await box.run(['worker', 'stop', '--force', '--timeout', '20s']).catch(() => {});
    unmount(attempts);
    unmount(box.home);
    await box.cleanup();
  }
  const notes = `${counts.refused} enqueues refused with a clear error, ${counts.deleted} jobs deleted on the full disk`;
  return { jobs: acknowledged.length, faults: cycles, violations, notes };
}
