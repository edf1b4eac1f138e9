import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { finishKilledSwap } from '../../src/store/sqlite/care/swap.ts';
import { EXECUTABLE } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';
import { type Fault, type Figures, formatCount } from './fault.ts';
import { cuts, VARIANTS, withScratch } from './power-cuts.ts';
import { hasTool, type Op, recordOps } from './syscalls.ts';

/** After the first backup, a small run checks about this many random states, and all states after a link or rename. */
const SMALL_STATES = 300;
const BACKUP = 'backup.db';

/** Cuts the power at every system call of a restore, and of a backup that replaces an older backup which has a WAL. */
export const restoreCut: Fault = {
  id: 'F13b',
  title: 'Power cut at every system call of backup and restore',
  small: 1,
  full: 4,
  whySkipped: () => (hasTool('strace') ? null : 'no strace'),
  run: cutEverywhere,
};

async function cutEverywhere(rounds: number, seed: number, program = EXECUTABLE): Promise<Figures> {
  const all: Figures = { jobs: 0, faults: 0, violations: [] };
  for (let round = 0; round < rounds; round++) {
    const one = await cutRound(round, rounds === 1 ? SMALL_STATES : null, seed + round, program);
    all.jobs += one.jobs;
    all.faults += one.faults;
    all.violations.push(...one.violations);
  }
  return { ...all, notes: `${formatCount(all.faults)} states` };
}

/** Runs one round. In odd rounds the last writer of the store was killed, so that a WAL is left beside it. */
function cutRound(round: number, maxStates: number | null, seed: number, program: string): Promise<Figures> {
  return inTempDir(async (directory) => {
    const root = join(directory, 'root');
    mkdirSync(root);
    const home = join(root, 'home');
    const acks = join(directory, 'acks');
    const ids = Array.from({ length: 5 + 20 * round }, (_, i) => `old${i}`);
    const crashLast = round % 2 === 0 ? '' : 'QUEUECTL_CRASH_AT=after-insert';
    const script = `cd ${directory}
q() { ${program} "$@"; }
q enqueue true --id a >>out
q backup ${home}/${BACKUP} >>out
echo one >>acks
(QUEUECTL_CRASH_AT=after-insert ${program} --db ${home}/${BACKUP} enqueue true --id there >>out 2>&1) || true
echo used >>acks
q enqueue true --id b >>out
q backup --force ${home}/${BACKUP} >>out
echo two >>acks
for id in ${ids.join(' ')}; do q enqueue true --id $id >>out; done
(${crashLast} ${program} enqueue true --id last >>out 2>&1) || true
echo begin >>acks
q restore --yes ${home}/${BACKUP} >>out
echo restored >>acks`;
    const trace = recordOps(
      script,
      join(directory, 'trace'),
      { ...process.env, QUEUECTL_HOME: home },
      (path) => isWanted(path, root, acks),
    );
    const oldIds = ['a', 'b', 'last', ...ids].sort().join(' ');
    const { states, violations } = await judge(trace, root, home, oldIds, maxStates, seed);
    return { jobs: ids.length + 3, faults: states, violations };
  });
}

function isWanted(path: string, root: string, acks: string): boolean {
  if (path === acks || path === root) return true;
  return path.startsWith(join(root, 'home')) && !path.includes('.db.d') && !/-shm$|deleted\)$/.test(path);
}

/** The last line that the script wrote to `acks`, or `nothing` before the first. */
type Stage = 'nothing' | 'one' | 'used' | 'two' | 'begin' | 'restored';

async function judge(
  trace: Op[],
  root: string,
  home: string,
  oldIds: string,
  maxStates: number | null,
  seed: number,
): Promise<{ states: number; violations: Figures['violations'] }> {
  let stage: Stage = 'nothing';
  const share = maxStates === null ? 1 : maxStates / (trace.length * VARIANTS.length);
  const choice = {
    seed,
    share: ({ kind }: Op) => (stage === 'nothing' ? 0 : kind === 'link' || kind === 'rename' ? 1 : share),
    onAppend: (op: Extract<Op, { kind: 'append' }>) => {
      if (basename(op.path) === 'acks') stage = op.text.trim() as Stage;
    },
    known: () => stage,
  };
  const violations: Figures['violations'] = [];
  let states = 0;
  await withScratch(async (scratch) => {
    for (const { files, when } of cuts(trace, root, choice)) {
      states++;
      for (const name of readdirSync(scratch)) rmSync(join(scratch, name), { recursive: true });
      for (const [path, data] of files)
        if (dirname(path) === home) writeFileSync(join(scratch, basename(path)), data);
      for (const what of await inspectState(scratch, stage, oldIds))
        violations.push({ kind: 'lost', what: `${what} (${stage}, ${when})` });
    }
  });
  return { states, violations };
}

/** Lists the job ids that the backup may hold at a stage. At later stages it must hold `a b`. */
const BACKUP_IDS: Partial<Record<Stage, string[]>> = { one: ['a', 'a there'], used: ['a there', 'a b'] };

async function inspectState(scratch: string, stage: Stage, oldIds: string): Promise<string[]> {
  const wrong: string[] = [];
  const backup = idsIn(join(scratch, BACKUP));
  if (!(BACKUP_IDS[stage] ?? ['a b']).includes(backup)) wrong.push(`the backup holds ${backup}`);
  if (stage !== 'begin' && stage !== 'restored') return wrong;
  const db = join(scratch, 'queue.db');
  await finishKilledSwap(db).catch((error: Error) =>
    wrong.push(`the swap cannot be finished: ${error.message}`),
  );
  const now = idsIn(db);
  if (now !== 'a b' && (stage === 'restored' || now !== oldIds)) wrong.push(`the store holds ${now}`);
  const kept = readdirSync(scratch).filter((name) => /^queue\.db\.before-\w+$/.test(name));
  if (now !== oldIds && !kept.some((name) => idsIn(join(scratch, name)) === oldIds))
    wrong.push(`the old store is not in ${kept.join(' ')}`);
  return wrong;
}

/** Returns the ids in a store as one line, or the reason why it cannot be read. */
function idsIn(path: string): string {
  try {
    const db = new DatabaseSync(path);
    try {
      const [{ integrity_check: found } = {}] = db.prepare('PRAGMA integrity_check').all();
      if (found !== 'ok') return `damage: ${found}`;
      return db
        .prepare('SELECT id FROM job ORDER BY id')
        .all()
        .map(({ id }) => id)
        .join(' ');
    } finally {
      db.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}
