import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { openDatabase } from '../support/database.ts';
import { EXECUTABLE } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';
import { type Fault, type Figures, formatCount } from './fault.ts';
import { type Append, cuts, VARIANTS, withScratch } from './power-cuts.ts';
import { hasTool, type Op, recordOps } from './syscalls.ts';

/** A small run checks about this many states, chosen at random, and all states before the first acknowledgement. */
const SMALL_STATES = 400;
/** One state in this many is also opened by queuectl, and so is every state before the first acknowledgement. */
const STATES_PER_OPEN = 50;

/** Cuts the power at every system call of processes that enqueue, claim and settle. */
export const powerCut: Fault = {
  id: 'F13',
  title: 'Power cut at every system call',
  small: 1,
  full: 12,
  whySkipped: () => (hasTool('strace') ? null : 'no strace'),
  run: cutEverywhere,
};

function cutEverywhere(rounds: number, seed: number, program = EXECUTABLE): Promise<Figures> {
  return inTempDir(async (directory) => {
    const root = join(directory, 'root');
    mkdirSync(root);
    const database = join(root, 'new', 'home', 'queue.db');
    const wanted = new Set([root, join(root, 'new'), join(root, 'new', 'home'), ...filesOf(database)]);
    const trace = recordOps(
      script(rounds, program, directory),
      join(directory, 'trace'),
      { ...process.env, QUEUECTL_HOME: join(root, 'new', 'home') },
      (path) => wanted.has(path) || path === join(directory, 'acks') || path === join(directory, 'log'),
    );
    return judge(trace, root, database, rounds === 1 ? SMALL_STATES : null, seed);
  });
}

function filesOf(database: string): string[] {
  return ['', '-wal', '-journal'].map((end) => database + end);
}

/** Returns a script that creates and uses a store. Its processes run one after another and in parallel. */
function script(rounds: number, program: string, directory: string): string {
  const file = join(directory, 'jobs');
  const many = Array.from({ length: 10 * rounds }, (_, i) => ({ id: `m${i}`, command: 'true' }));
  writeFileSync(file, many.map((job) => `${JSON.stringify(job)}\n`).join(''));
  return `cd ${directory}
q() { ${program} "$@"; }
for round in $(seq ${rounds}); do
  q enqueue true --id a$round >>acks
  q enqueue 'echo out; exit 1' --max-retries 1 --id b$round >>acks &
  q enqueue true --id c$round >>acks
  wait
done
q enqueue --file ${file} >>acks
q worker start --count 2 --drain 2>>log >>log &
for round in $(seq ${rounds}); do
  q enqueue true --id d$round >>acks &
  q enqueue true --id e$round >>acks
  q enqueue true --delay 1h --id f$round >>acks
  q cancel f$round >>cancelled
done
wait`;
}

/** The ids of jobs whose enqueue or completion was reported. */
interface Acknowledged {
  enqueued: Set<string>;
  completed: Set<string>;
}

/** Records what was acknowledged to users. It must survive every later power cut. */
function recordAcknowledgement(acknowledged: Acknowledged, op: Append): void {
  for (const line of op.text.split('\n')) {
    if (basename(op.path) === 'log') {
      const [, id] = line.match(/ job=(\S+) .* completed /) ?? [];
      if (id !== undefined) acknowledged.completed.add(id);
    } else if (line !== '') acknowledged.enqueued.add(line);
  }
}

async function judge(
  trace: Op[],
  root: string,
  database: string,
  maxStates: number | null,
  seed: number,
): Promise<Figures> {
  const acknowledged: Acknowledged = { enqueued: new Set(), completed: new Set() };
  const onAppend = (op: Append): void => recordAcknowledgement(acknowledged, op);
  const share = maxStates === null ? 1 : maxStates / (trace.length * VARIANTS.length);
  const shareNow = (): number => (acknowledged.enqueued.size === 0 ? 1 : share);
  const known = (): string => `${acknowledged.enqueued.size} ${acknowledged.completed.size}`;
  const violations: Figures['violations'] = [];
  let states = 0;
  await withScratch(async (scratch) => {
    for (const { files, when } of cuts(trace, root, { seed, share: shareNow, onAppend, known })) {
      states++;
      const openToo = acknowledged.enqueued.size === 0 || states % STATES_PER_OPEN === 0;
      const wrong = await inspectState(scratch, files, database, acknowledged, openToo);
      for (const one of wrong) violations.push({ ...one, what: `${one.what} (${when})` });
    }
  });
  const { enqueued, completed } = acknowledged;
  const notes = `${formatCount(states)} states after ${formatCount(trace.length)} calls; ${enqueued.size} jobs and ${completed.size} results acknowledged`;
  return { jobs: enqueued.size, faults: states, violations, notes };
}

async function inspectState(
  scratch: string,
  files: Map<string, Uint8Array>,
  database: string,
  acknowledged: Acknowledged,
  openToo: boolean,
): Promise<Figures['violations']> {
  const copy = join(scratch, 'queue.db');
  const writeFiles = (): void => {
    for (const path of [...filesOf(copy), `${copy}-shm`, `${copy}.d`])
      rmSync(path, { recursive: true, force: true });
    for (const [path, data] of files) writeFileSync(join(scratch, basename(path)), data);
  };
  writeFiles();
  if (!files.has(database))
    return [...acknowledged.enqueued].map((id) => ({ kind: 'lost', what: `${id}: there is no database` }));
  try {
    const wrong = inspectDatabase(copy, acknowledged);
    if (openToo) {
      writeFiles();
      await (await openSqlite(copy)).store.close();
    }
    return wrong;
  } catch (error) {
    return [{ kind: 'corrupt', what: (error as Error).message }];
  }
}

function inspectDatabase(path: string, acknowledged: Acknowledged): Figures['violations'] {
  const wrong: Figures['violations'] = [];
  const db = openDatabase(path);
  try {
    db.exec('PRAGMA synchronous = OFF');
    const rows = (sql: string) => db.prepare(sql).all() as Record<string, string>[];
    const found = rows('PRAGMA integrity_check').map((row) => row.integrity_check);
    if (found.join() !== 'ok') wrong.push({ kind: 'corrupt', what: found.join('; ') });
    for (const row of rows('PRAGMA foreign_key_check'))
      wrong.push({ kind: 'corrupt', what: `no parent for a row of ${row.table}` });
    const hasTables = rows("SELECT name FROM sqlite_schema WHERE name = 'job'").length > 0;
    const states = new Map(
      hasTables ? rows('SELECT id, state FROM job').map((row) => [row.id, row.state]) : [],
    );
    for (const id of acknowledged.enqueued) if (!states.has(id)) wrong.push({ kind: 'lost', what: id });
    for (const id of acknowledged.completed)
      if (states.get(id) !== 'completed') wrong.push({ kind: 'lost', what: `the end of ${id}` });
  } finally {
    db.close();
  }
  return wrong;
}
