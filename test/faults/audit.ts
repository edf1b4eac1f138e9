import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../support/database.ts';
import type { Change, JobRow, Violation } from './checker.ts';
import { COUNTER_PARTS, countsFromCounters, countsFromEvents, SELECT_COUNTERS } from './event-log.ts';

/**
 * Triggers that record inserted and deleted jobs, changes of the phase, token or holder of a job, changes of ended jobs,
 * and changes of the token or holder of an attempt. They show what processes did to the rows, whatever their logs
 * contain. `source` is the table of the row. `actor` is copied from the log row of the change, if it belongs to an attempt.
 */
const TRIGGERS = `
CREATE TABLE IF NOT EXISTS audit (
  seq INTEGER PRIMARY KEY, job TEXT, source TEXT, from_state TEXT, to_state TEXT,
  from_token INTEGER, to_token INTEGER, from_holder TEXT, to_holder TEXT, actor TEXT);
CREATE INDEX IF NOT EXISTS audit_job ON audit (job, source);
CREATE TRIGGER IF NOT EXISTS audit_added AFTER INSERT ON job BEGIN
  INSERT INTO audit (job, source, to_state, to_token) VALUES (NEW.id, 'job', NEW.state, NEW.token);
END;
CREATE TRIGGER IF NOT EXISTS audit_changed AFTER UPDATE OF state, phase, token, worker_id, finished_at ON job
WHEN OLD.phase IS NOT NEW.phase OR OLD.token IS NOT NEW.token OR OLD.worker_id IS NOT NEW.worker_id
  OR OLD.phase = 'ended' BEGIN
  INSERT INTO audit (job, source, from_state, to_state, from_token, to_token, from_holder, to_holder)
  VALUES (NEW.id, 'job', OLD.state, NEW.state, OLD.token, NEW.token, OLD.worker_id, NEW.worker_id);
END;
CREATE TRIGGER IF NOT EXISTS audit_attempt AFTER UPDATE OF token, worker_id ON attempt
WHEN OLD.token IS NOT NEW.token OR OLD.worker_id IS NOT NEW.worker_id BEGIN
  INSERT INTO audit (job, source, from_state, to_state, from_token, to_token, from_holder, to_holder)
  SELECT id, 'attempt', 'processing', 'processing', OLD.token, NEW.token, OLD.worker_id, NEW.worker_id
  FROM job WHERE number = NEW.job;
END;
CREATE TRIGGER IF NOT EXISTS audit_actor AFTER INSERT ON log WHEN NEW.attempt IS NOT NULL AND NEW.kind IN
  ('started', 'adopted', 'requeued', 'completed', 'failed', 'dead', 'cancelled') BEGIN
  UPDATE audit SET actor = NEW.actor WHERE seq = (SELECT max(seq) FROM audit WHERE job = NEW.id AND source = 'job');
END;
CREATE TRIGGER IF NOT EXISTS audit_removed AFTER DELETE ON job BEGIN
  INSERT INTO audit (job, source, from_state, from_token) VALUES (OLD.id, 'job', OLD.state, OLD.token);
END;`;

/** Work that has not ended: the number of jobs, and a description of each current claim. */
export interface UnfinishedWork {
  unfinished: number;
  claims: string[];
}

/** Reads from a store what is needed to check it. Other functions of this file do the same for a file at once. */
export interface Audit {
  /** Begins to record changes. */
  start(): Promise<void>;
  unfinishedWork(): Promise<UnfinishedWork>;
  storedSettings(): Promise<Map<string, string>>;
  readJobs(): Promise<JobRow[]>;
  /** Returns the recorded changes, without inserts and deletes. */
  readChanges(): Promise<Change[]>;
  brokenInvariants(): Promise<Violation[]>;
}

/** Returns the audit of a store in this file. */
export function sqliteAudit(path: string): Audit {
  return {
    start: async () => startAudit(path),
    unfinishedWork: async () => unfinishedWork(path),
    storedSettings: async () => storedSettings(path),
    readJobs: async () => readJobs(path),
    readChanges: async () => readChanges(path),
    brokenInvariants: async () => brokenInvariants(path),
  };
}

function withDatabase<T>(path: string, work: (db: DatabaseSync) => T): T {
  const db = openDatabase(path);
  try {
    db.exec('PRAGMA busy_timeout = 30000');
    return work(db);
  } finally {
    db.close();
  }
}

function startAudit(path: string): void {
  withDatabase(path, (db) => db.exec(TRIGGERS));
}

/** Counts the supervisors that are registered. */
export function countSupervisors(path: string): number {
  return withDatabase(path, (db) => Number(db.prepare('SELECT count(*) AS n FROM supervisor').get()!.n));
}

/** Returns the number of jobs that have not ended. */
export function countUnfinished(path: string): number {
  return unfinishedWork(path).unfinished;
}

function unfinishedWork(path: string): UnfinishedWork {
  return withDatabase(path, (db) => ({
    unfinished: Number(db.prepare("SELECT count(*) AS n FROM job WHERE phase <> 'ended'").get()!.n),
    claims: db
      .prepare("SELECT id, token FROM job WHERE phase = 'running'")
      .all()
      .map(({ id, token }) => `the claim ${token} of ${id}`),
  }));
}

function storedSettings(path: string): Map<string, string> {
  return withDatabase(
    path,
    (db) =>
      new Map(
        db
          .prepare('SELECT key, value FROM setting')
          .all()
          .map((row) => [String(row.key), String(row.value)]),
      ),
  );
}

export function readJobs(path: string): JobRow[] {
  const sql = `SELECT id, state, attempts, max_retries AS maxRetries, crashes,
    (SELECT group_concat(why || coalesce(' ' || exit_code, ''), ', ') FROM attempt WHERE job = job.number) AS results
    FROM job ORDER BY number`;
  return withDatabase(path, (db) => db.prepare(sql).all() as unknown as JobRow[]);
}

/** Returns the number of running attempts that were requested to end. */
export function countEndRequests(path: string): number {
  const sql = 'SELECT count(*) AS n FROM attempt WHERE end_reason IS NOT NULL AND finished_at IS NULL';
  return withDatabase(path, (db) => Number(db.prepare(sql).get()!.n));
}

/** Returns the recorded changes, without inserts and deletes. */
function readChanges(path: string): Change[] {
  const sql = `SELECT job, from_state AS "from", to_state AS "to", from_token AS fromToken, to_token AS toToken,
    from_holder AS fromHolder, to_holder AS toHolder, actor FROM audit WHERE from_state IS NOT NULL AND to_state IS NOT NULL ORDER BY seq`;
  return withDatabase(path, (db) => db.prepare(sql).all() as unknown as Change[]);
}

const COUNTERS = `SELECT queue, state, sum(jobs) FROM (${COUNTER_PARTS}) GROUP BY 1, 2`;

/** Maps each invariant of the database to a query that must return no rows. */
const INVARIANTS: Record<string, string> = {
  'foreign keys': 'PRAGMA foreign_key_check',
  'counters = rows': `SELECT * FROM
    (${COUNTERS} HAVING sum(jobs) <> 0 EXCEPT SELECT queue, state, count(*) FROM job GROUP BY 1, 2)
    UNION ALL SELECT * FROM
    (SELECT queue, state, count(*) FROM job GROUP BY 1, 2 EXCEPT ${COUNTERS})`,
  'counters = changes': `SELECT * FROM (SELECT state, sum(step) AS jobs FROM
      (SELECT to_state AS state, 1 AS step FROM audit WHERE to_state IS NOT NULL
       UNION ALL SELECT from_state, -1 FROM audit WHERE from_state IS NOT NULL) GROUP BY state HAVING sum(step) <> 0)
    EXCEPT ${SELECT_COUNTERS}`,
  'an open attempt belongs to a running job': `SELECT attempt.number FROM attempt JOIN job ON job.number = attempt.job
    WHERE attempt.finished_at IS NULL AND (job.phase <> 'running' OR job.attempt IS NOT attempt.number)`,
  'a running job has one open attempt': `SELECT job.id FROM job WHERE phase = 'running' AND
    (SELECT count(*) FROM attempt WHERE attempt.job = job.number AND attempt.finished_at IS NULL) <> 1`,
  'a token is used once': 'SELECT job, token FROM attempt GROUP BY job, token HAVING count(*) > 1',
  'every charged attempt has a row': `SELECT id FROM job WHERE attempts + crashes >
    (SELECT count(*) FROM attempt WHERE attempt.job = job.number)`,
};

function brokenInvariants(path: string): Violation[] {
  return withDatabase(path, (db) => {
    const found: Violation[] = [];
    const integrity = Object.values(db.prepare('PRAGMA integrity_check').get()!)[0];
    if (integrity !== 'ok') found.push({ kind: 'invariant', what: `integrity_check: ${integrity}` });
    for (const [name, sql] of Object.entries(INVARIANTS)) {
      const rows = db.prepare(sql).all();
      if (rows.length > 0)
        found.push({ kind: 'invariant', what: `${name}: ${JSON.stringify(rows.slice(0, 3))}` });
    }
    const fromEvents = countsFromEvents(db);
    if (fromEvents !== null && fromEvents !== countsFromCounters(db))
      found.push({
        kind: 'invariant',
        what: `counters = event log: ${countsFromCounters(db)}, but ${fromEvents}`,
      });
    return found;
  });
}
