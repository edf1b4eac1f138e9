import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { openDatabase } from '../support/database.ts';
import { claim, ending, failedWith, jobSpec, NOW, newWorker, succeeded } from '../support/jobs.ts';
import { EXECUTABLE } from '../support/queuectl.ts';
import { below, randomFrom } from '../support/random.ts';
import type { Fault, Figures } from './fault.ts';
import { roundDone, startProgress } from './progress.ts';

const JOBS = 90;
/** This many jobs are only in the WAL. */
const JOBS_IN_WAL = 20;
const PAGE_BYTES = 4096;

interface DamageResults {
  /** Commands that ended without a message or by a signal. */
  crashes: string[];
  /** Damaged stores that lost jobs although no command reported a problem. */
  silent: string[];
  /** Repairs that did not report a loss, removed the damaged file, or left a wrong store. */
  badRepairs: string[];
  detected: number;
  repaired: number;
  /** Stores without any readable job, which `db repair` left unchanged. */
  reported: number;
}

type Mutation = [kind: string, harm: (db: string, random: () => number) => void];

function flipBits(file: string, random: () => number, bits: number, from = 0): void {
  const bytes = readFileSync(file);
  for (let i = 0; i < bits; i++) bytes[from + below(random, bytes.length - from)]! ^= 1 << below(random, 8);
  writeFileSync(file, bytes);
}

function overwrite(file: string, from: number, length: number, value: () => number): void {
  const bytes = readFileSync(file);
  for (let i = from; i < Math.min(from + length, bytes.length); i++) bytes[i] = value();
  writeFileSync(file, bytes);
}

const pageAt = (file: string, random: () => number): number =>
  PAGE_BYTES * below(random, statSync(file).size / PAGE_BYTES);

const MUTATIONS: Mutation[] = [
  ['one bit', (db, random) => flipBits(db, random, 1)],
  ['some bits', (db, random) => flipBits(db, random, 2 + below(random, 30))],
  ['many bits', (db, random) => flipBits(db, random, 100 + below(random, 900))],
  ['cut', (db, random) => truncateSync(db, below(random, statSync(db).size))],
  ['cut to nothing', (db) => truncateSync(db, 0)],
  ['zeroed page', (db, random) => overwrite(db, pageAt(db, random), PAGE_BYTES, () => 0)],
  ['zeroed first page', (db) => overwrite(db, 0, PAGE_BYTES, () => 0)],
  ['page of noise', (db, random) => overwrite(db, pageAt(db, random), PAGE_BYTES, () => below(random, 256))],
  ['wrong header', (db, random) => overwrite(db, 0, 16 + below(random, 85), () => below(random, 256))],
  ['bits of the WAL', (db, random) => flipBits(`${db}-wal`, random, 1 + below(random, 20))],
  ['cut WAL', (db, random) => truncateSync(`${db}-wal`, below(random, statSync(`${db}-wal`).size))],
  ['no WAL', (db) => rmSync(`${db}-wal`)],
  ['no shared memory', (db) => rmSync(`${db}-shm`, { force: true })],
  ['bits of the shared memory', (db, random) => existsSync(`${db}-shm`) && flipBits(`${db}-shm`, random, 50)],
];

/** These kinds of damage may lose the jobs in the WAL without an error. */
const MAY_LOSE_WAL = new Set(['bits of the WAL', 'cut WAL', 'no WAL']);

/** Makes a store with pending, completed and failed jobs. Its last jobs are only in its WAL, as after a crash. */
async function makeBase(directory: string): Promise<void> {
  const live = join(directory, 'live.db');
  const { store } = await openSqlite(live);
  await store.register(newWorker('w1'));
  await store.set('max-retries', '4', () => {});
  for (let i = 0; i < JOBS - JOBS_IN_WAL; i++) {
    const long = i % 7 === 0 ? 'x'.repeat(3000) : '';
    await store.insert([jobSpec(`job${i}`, { command: `echo ${i} ${long}`, tags: { n: String(i) } })], NOW);
  }
  for (const job of await claim(store, { limit: 40 })) {
    const kept = Buffer.from(`output of ${job.id}\n`.repeat(60));
    const outcome = job.claim.job % 3 === 0 ? failedWith(1) : succeeded;
    await store.settle(
      ending(job, outcome, NOW + 1000, { output: { bytes: kept.length, truncated: false, kept } }),
    );
  }
  await store.unregister('w1');
  const checkpoint = openDatabase(live);
  checkpoint.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  checkpoint.close();
  for (let i = JOBS - JOBS_IN_WAL; i < JOBS; i++) await store.insert([jobSpec(`job${i}`)], NOW);
  // Reading a file releases the locks of this process on it. No other process has the files open, so that is harmless.
  for (const end of ['', '-wal', '-shm'])
    writeFileSync(join(directory, `base.db${end}`), readFileSync(live + end));
  await store.close();
}

interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

function run(db: string, ...args: string[]): Promise<CommandResult> {
  return new Promise((done) => {
    const child = spawn(EXECUTABLE, ['--db', db, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => {
      stdout += data;
    });
    child.stderr.on('data', (data) => {
      stderr += data;
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
    child.once('close', (code) => {
      clearTimeout(timer);
      done({ code, stdout, stderr });
    });
  });
}

const isError = (result: CommandResult): boolean =>
  result.code !== 0 && /^\{"error":|^error: /.test(result.stderr);

/** Damages copies of a store (mutants), with each kind of damage in turn, and checks what the commands report. */
export const corruption: Fault = {
  id: 'F21',
  title: 'Damaged database files',
  small: 56,
  full: 2000,
  async run(mutants, seed) {
    const { crashes, silent, badRepairs, ...seen } = await damageCopies(mutants, seed);
    const violations = [
      ...crashes.map((what) => ({ kind: 'crash', what })),
      ...silent.map((what) => ({ kind: 'silent', what })),
      ...badRepairs.map((what) => ({ kind: 'repair', what })),
    ];
    // Damage of the first page is beyond repair. But at least a sixth must be detected, and some repaired.
    if (seen.detected * 6 < mutants || seen.repaired * 24 < mutants)
      violations.push({ kind: 'idle', what: JSON.stringify(seen) });
    const notes = `${seen.detected} detected, ${seen.repaired} repaired, ${seen.reported} reported as beyond repair`;
    return { jobs: 0, faults: mutants, violations, notes } satisfies Figures;
  },
};

async function damageCopies(mutants: number, seed: number): Promise<DamageResults> {
  const results: DamageResults = {
    crashes: [],
    silent: [],
    badRepairs: [],
    detected: 0,
    repaired: 0,
    reported: 0,
  };
  const directory = mkdtempSync(join(tmpdir(), 'queuectl-f21-'));
  try {
    await makeBase(directory);
    let next = 0;
    startProgress(mutants);
    const lane = async (): Promise<void> => {
      while (next < mutants) {
        await tryMutant(directory, next++, seed, results);
        roundDone();
      }
    };
    await Promise.all([lane(), lane()]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return results;
}

async function tryMutant(base: string, n: number, seed: number, results: DamageResults): Promise<void> {
  const [kind, harm] = MUTATIONS[n % MUTATIONS.length]!;
  const name = `${kind}, mutant ${n} of seed ${seed}`;
  const directory = join(base, String(n));
  mkdirSync(join(directory, 'queue.db.d', 'attempts'), { recursive: true, mode: 0o700 });
  const db = join(directory, 'queue.db');
  for (const end of ['', '-wal', '-shm']) {
    writeFileSync(db + end, '', { mode: 0o600 });
    copyFileSync(join(base, `base.db${end}`), db + end);
  }
  harm(db, randomFrom(seed * 100_003 + n));
  const damaged = readFileSync(db);

  const check = await run(db, 'db', 'check', '--json');
  const isReported = check.code === 1 && check.stdout.startsWith('{');
  const list = await run(db, 'list', '--json');
  const status = await run(db, 'status', '--json');
  const added = await run(db, 'enqueue', '--id', 'added', 'true');
  for (const [what, result] of Object.entries({ check, list, status, added }))
    if (result.code !== 0 && !(what === 'check' && isReported) && !isError(result))
      results.crashes.push(`${name}: ${what}: ${JSON.stringify(result).slice(0, 300)}`);

  const listedJobs = list.code === 0 ? (JSON.parse(list.stdout) as unknown[]).length : null;
  const noProblem = check.code === 0 && list.code === 0 && status.code === 0 && added.code === 0;
  const minJobs = MAY_LOSE_WAL.has(kind) ? JOBS - JOBS_IN_WAL : JOBS;
  if (noProblem && listedJobs! < minJobs) results.silent.push(`${name}: ${listedJobs} of ${JOBS} jobs`);
  if (!noProblem) {
    results.detected++;
    await tryRepair(db, name, minJobs, damaged, results);
  }
  rmSync(directory, { recursive: true, force: true });
}

async function tryRepair(
  db: string,
  name: string,
  minJobs: number,
  damaged: Buffer,
  results: DamageResults,
): Promise<void> {
  const repair = await run(db, 'db', 'repair', '--json');
  const bad = (why: string): void =>
    void results.badRepairs.push(`${name}: ${why}: ${JSON.stringify(repair).slice(0, 400)}`);
  if (isError(repair)) {
    results.reported++;
    if (!/sqlite3 .* \.recover|found no damage/.test(repair.stderr)) bad('names no other way');
    if (!existsSync(db) || (damaged.length > 0 && statSync(db).size === 0)) bad('the file is gone');
    return;
  }
  if (!repair.stdout.startsWith('{')) {
    results.crashes.push(`${name}: repair: ${JSON.stringify(repair).slice(0, 300)}`);
    return;
  }
  const { jobs, lost, kept } = JSON.parse(repair.stdout) as { jobs: number; lost: string[]; kept: string };
  results.repaired++;
  if (jobs < minJobs && lost.length === 0) bad('lost jobs without reporting it');
  if (jobs === 0) bad('an empty queue');
  if (!existsSync(kept)) bad('the damaged file is gone');
  const list = await run(db, 'list', '--json');
  if (list.code !== 0 || (JSON.parse(list.stdout) as unknown[]).length !== jobs)
    bad('does not list what it saved');
  const check = await run(db, 'db', 'check', '--json');
  if (check.code !== 0) bad(`does not pass its check: ${check.stdout}${check.stderr}`);
}
