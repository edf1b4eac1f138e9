/**
 * Fills a store with finished jobs, as if they had run, and with jobs that wait. By hand:
 * bun bench/seed.ts QUEUE_DB [FINISHED] [FUTURE] [READY] [QUEUES]
 * The store must exist and be empty. `queuectl config set` creates one.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { recomputeBounds } from '../src/store/sqlite/sql/care.ts';

const DEFAULT_JOBS = 1_000_000;

export interface Seed {
  finished?: number;
  /** Urgent jobs that are due tomorrow. */
  future?: number;
  ready?: number;
  /** The jobs are spread over this many queues. Finished and ready jobs are in all of them, future jobs in the first. */
  queues?: number;
}

/** Counts inside SQLite, so that no row has to be passed from JavaScript. */
const NUMBERS = 'WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < :jobs)';

/** One job in a hundred is dead, the others are completed. */
const INSERT_FINISHED = `${NUMBERS}
  INSERT INTO job (id, command, queue, priority, max_retries, cwd, state, phase, attempts, runs, token, attempt,
    created_at, updated_at, started_at, finished_at, exit_code, last_error, duration_ms)
  SELECT format('seed-%08d', i), 'true', :queue + i % :queues, 0, 0, '/', iif(i % 100 = 0, 'dead', 'completed'), 'ended', 1, 1, 1, i,
    :start + i, :start + i + 9, :start + i + 5, :start + i + 9, iif(i % 100 = 0, 1, 0),
    iif(i % 100 = 0, 'exit code 1', NULL), 4 FROM n`;
const INSERT_ATTEMPTS = `INSERT INTO attempt (number, job, ordinal, token, worker_id, started_at, wait_ms, finished_at, why,
    exit_code, error)
  SELECT attempt, number, 1, 1, 'seed', started_at, 5, finished_at, 'exited', exit_code, last_error FROM job
  WHERE id >= 'seed-' AND id < 'seed.'`;
const INSERT_FUTURE = `${NUMBERS}
  INSERT INTO job (id, command, queue, priority, max_retries, run_at, cwd, state, phase, created_at, updated_at, due_at)
  SELECT format('later-%08d', i), 'true', :queue, 100, 3, :due + i, '/', 'pending', 'waiting', :start, :start, :due + i
  FROM n`;

const INSERT_READY = `${NUMBERS}
  INSERT INTO job (id, command, queue, priority, max_retries, cwd, state, phase, created_at, updated_at, due_at)
  SELECT format('ready-%08d', i), 'true', :queue + i % :queues, 0, 3, '/', 'pending', 'ready', :start, :start, :start FROM n`;
const INSERT_QUEUES = `${NUMBERS} INSERT INTO queue (number, name) SELECT :queue + i, format('queue-%04d', i) FROM n`;

/** Computes the counters, which these inserts do not update. */
const INSERT_COUNTERS = `DELETE FROM log; INSERT OR REPLACE INTO counter (queue, state, jobs) SELECT queue, state, count(*) FROM job GROUP BY 1, 2`;

/** Adds the figures of all time, which every queue that ever had a job has. */
const INSERT_KINDS = "INSERT INTO rollup_kind (queue, name) SELECT DISTINCT queue, '' FROM counter";
const INSERT_FIGURES = `INSERT INTO rollup (tier, at, kind, enqueued, completed, dead)
  SELECT 0, 0, rollup_kind.number, sum(jobs), sum(iif(state = 'completed', jobs, 0)), sum(iif(state = 'dead', jobs, 0))
  FROM counter JOIN rollup_kind ON rollup_kind.queue = counter.queue GROUP BY 3`;

/** Fills an empty store. Jobs and attempts get the same numbers. */
export function seed(path: string, { finished = 0, future = 0, ready = 0, queues = 1 }: Seed): void {
  const db = new DatabaseSync(path);
  try {
    // A store that is lost in a crash is simply seeded again. A log of millions of rows would be as large as the store.
    db.exec(
      'PRAGMA synchronous = OFF; PRAGMA cache_size = -524288; PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; BEGIN IMMEDIATE',
    );
    db.exec("INSERT OR IGNORE INTO queue (name) VALUES ('default')");
    const { number: queue } = db.prepare("SELECT number FROM queue WHERE name = 'default'").get() as {
      number: number;
    };
    if (queues > 1) db.prepare(INSERT_QUEUES).run({ jobs: queues - 1, queue });
    const now = Date.now();
    if (finished > 0) {
      db.prepare(INSERT_FINISHED).run({ jobs: finished, queue, queues, start: now - finished - 60_000 });
      db.exec(INSERT_ATTEMPTS);
    }
    if (future > 0) db.prepare(INSERT_FUTURE).run({ jobs: future, queue, start: now, due: now + 86_400_000 });
    if (ready > 0) db.prepare(INSERT_READY).run({ jobs: ready, queue, queues, start: now });
    db.exec(INSERT_COUNTERS);
    db.exec(INSERT_KINDS);
    db.exec(INSERT_FIGURES);
    db.prepare(recomputeBounds).run(0);
    db.exec('COMMIT');
    check(db, finished + future + ready);
    db.exec('PRAGMA journal_mode = WAL');
  } finally {
    db.close();
  }
  // Otherwise the first commit that is measured would wait until gigabytes are on disk.
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}

function check(db: DatabaseSync, jobs: number): void {
  const counted = db.prepare('SELECT coalesce(sum(jobs), 0) AS jobs FROM counter').get() as { jobs: number };
  if (counted.jobs !== jobs) throw new Error(`the counters show ${counted.jobs} jobs instead of ${jobs}`);
  const withoutAttempt = `SELECT count(*) AS jobs FROM job WHERE phase = 'ended'
    AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.number = job.attempt AND attempt.job = job.number)`;
  const found = db.prepare(withoutAttempt).get() as { jobs: number };
  if (found.jobs > 0) throw new Error(`${found.jobs} finished jobs have no attempt`);
}

if (import.meta.main) {
  const [path, ...counts] = process.argv.slice(2);
  if (path === undefined)
    throw new Error('usage: bun bench/seed.ts QUEUE_DB [FINISHED] [FUTURE] [READY] [QUEUES]');
  const [finished = DEFAULT_JOBS, future = 0, ready = 0, queues = 1] = counts.map(Number);
  seed(path, { finished, future, ready, queues });
}
