import {
  COUNTS,
  EXIT_CODES,
  FLAGS,
  INTERVALS_MS,
  NUMBERS,
  PRIORITIES,
  type Range,
  TIMES_MS,
} from '../ranges.ts';
import type { ViewDialect } from './views.ts';

/** The differences between the databases in the text of the schema. These texts may use the words of the common text, too. */
export interface SchemaDialect {
  /** Replaces words: the types of columns, and the ends of tables whose rows are found by their key or by a number. */
  words: Readonly<
    Record<'TEXT' | 'INTEGER' | 'REAL' | 'BLOB' | 'NUMBERED' | 'ROW_NUMBER' | 'BY_KEY' | 'BY_NUMBER', string>
  >;
  /** The tables whose columns have no ranges, because testing them would cost too much. A load tests ranges itself. */
  unchecked: readonly string[];
  /** The columns and constraints that tables have in this database only. */
  own: Readonly<Record<string, readonly string[]>>;
  /** Creates the tables, indexes and triggers that are in this database only. */
  more: string;
  views: ViewDialect;
}

/** The types of columns that hold a number of some range. NULL is in every range. */
const RANGED: Record<string, Range> = {
  NUMBER: NUMBERS,
  COUNT: COUNTS,
  TIME: TIMES_MS,
  DURATION: INTERVALS_MS,
  EXIT_CODE: EXIT_CODES,
  FLAG: FLAGS,
  PRIORITY: PRIORITIES,
  RETRIES: [0, 1000],
};

/** Returns a condition: whether columns are in a range. */
export const inRange = ([min, max]: Range, ...columns: string[]): string =>
  columns.map((column) => `${column} BETWEEN ${min} AND ${max}`).join(' AND ');

const figures = (...columns: string[]): string =>
  columns.map((column) => `${column} INTEGER NOT NULL DEFAULT 0`).join(',\n  ');
const histogram = (name: string): string =>
  `${name}_ms INTEGER NOT NULL DEFAULT 0,\n  ${name}_least INTEGER,\n  ${name}_most INTEGER,\n  ${name} BLOB`;

/**
 * The tables and indexes that all databases have. Words in capital letters that are not SQL are replaced by `inWordsOf`. Once a version
 * was released, its text never changes: a migration is added instead (migrations.ts).
 *
 * A newer version stops the workers of an older one through `meta`, `setting`, `worker`, `supervisor` and the columns `id`,
 * `phase` and `worker_id` of `job`. A migration must keep these as they are.
 *
 * Long texts are the last columns of a row, so that the others are read without them.
 */
const tables = (own: (table: string) => string): string => `
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) BY_KEY;

/* updated_at is null in a setting that was imported from an older version. */
CREATE TABLE setting (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  updated_at TIME
) BY_KEY;

/* tokens is what is left of the rate. */
CREATE TABLE queue (
  number NUMBERED,
  name TEXT NOT NULL UNIQUE,
  paused_at TIME,
  paused_by TEXT,
  concurrency NUMBER,
  rate NUMBER,
  rate_ms DURATION,
${own('queue')}  tokens REAL CHECK (${inRange([-NUMBERS[1], NUMBERS[1]], 'tokens')}),
  tokens_at TIME
) BY_NUMBER;

/*
 * phase is what the queue does with a job, state is what users see: a retry that is due is ready and still failed.
 * unique_slot is the unique key while it is in use. blockers counts the open dependencies. bytes counts the stdin and the output.
 * start has rarely used options of the start: names of secrets, split output, clean environment, the size of stdin.
 * The cheapest comparisons of the constraint come first: with an IN for each part, it was half the cost of an insert.
 */
CREATE TABLE job (
  number NUMBERED,
  id TEXT NOT NULL UNIQUE,
  name TEXT,
  queue INTEGER NOT NULL REFERENCES queue,
  state TEXT NOT NULL,
  phase TEXT NOT NULL,
  priority PRIORITY NOT NULL,
  max_retries RETRIES NOT NULL,
  timeout_ms INTEGER,
  backoff_base REAL,
  attempts INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  runs INTEGER NOT NULL DEFAULT 0,
  token INTEGER NOT NULL DEFAULT 0,
  attempt INTEGER,
  worker_id TEXT,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  run_at INTEGER,
  due_at TIME,
  started_at INTEGER,
  finished_at INTEGER,
  exit_code INTEGER,
  duration_ms INTEGER,
  bytes INTEGER NOT NULL DEFAULT 0,
  blockers INTEGER NOT NULL DEFAULT 0,
  unique_key TEXT,
  unique_while TEXT CHECK (unique_while IN ('pending', 'active')),
  unique_until INTEGER,
  unique_slot TEXT,
  cwd TEXT NOT NULL,
  argv TEXT,
  depends_on TEXT,
  tags TEXT,
  hooks TEXT,
  policy TEXT,
  start TEXT,
  last_error TEXT,
  env TEXT,
  command TEXT NOT NULL,
${own('job')}  CONSTRAINT phase_and_state_fit CHECK (CASE
    WHEN phase = 'ready' OR phase = 'waiting' OR phase = 'held' OR phase = 'blocked'
    THEN (state = 'pending' OR state = 'failed') AND worker_id IS NULL AND finished_at IS NULL AND due_at IS NOT NULL
    WHEN phase = 'running'
    THEN state = 'processing' AND worker_id IS NOT NULL AND finished_at IS NULL AND due_at IS NULL
    WHEN phase = 'ended' THEN (state = 'completed' OR state = 'dead' OR state = 'cancelled')
      AND worker_id IS NULL AND finished_at IS NOT NULL AND due_at IS NULL
    ELSE 1 = 0
  END)
) BY_NUMBER;
/* Every index slows down every insert, so most are partial. No query selects two of their phases with OR, because it could use neither index. */
CREATE INDEX job_ready ON job (queue, priority DESC, number) WHERE phase = 'ready';
CREATE INDEX job_waiting ON job (queue, due_at) WHERE phase = 'waiting';
/* Has the jobs that cannot run for a reason of their own. Lists and counts by reason read it instead of all waiting jobs. */
CREATE INDEX job_set_aside ON job (phase, queue, state, number, due_at) WHERE phase IN ('waiting', 'held', 'blocked');
CREATE INDEX job_late ON job (queue, due_at) WHERE phase = 'ready' AND due_at > created_at;
/* Also counts the running jobs of a limited queue. */
CREATE INDEX job_running ON job (queue, worker_id) WHERE phase = 'running';
CREATE INDEX job_by_name ON job (name, number) WHERE name IS NOT NULL;
/* Of two jobs with the same key only the first is inserted, even if both are enqueued at the same moment. */
CREATE UNIQUE INDEX job_unique ON job (unique_slot) WHERE unique_slot IS NOT NULL;

/*
 * duration_ms is measured by a monotonic clock. If it is null, it follows from the two times. signal is to be sent to the attempt.
 * job_before is what the claim of a running attempt has changed in its job, as a JSON object. NULL means that it follows from the attempt.
 */
CREATE TABLE attempt (
  number NUMBERED,
  job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  ordinal COUNT NOT NULL,
  token COUNT NOT NULL,
  worker_id TEXT NOT NULL,
  started_at TIME NOT NULL,
  wait_ms TIME NOT NULL,
  finished_at TIME,
  duration_ms TIME,
  end_reason TEXT,
  why TEXT,
  exit_code EXIT_CODE,
  output_bytes COUNT NOT NULL DEFAULT 0,
  truncated FLAG NOT NULL DEFAULT 0,
  error TEXT,
  left_behind TEXT,
  signal TEXT,
  job_before TEXT,
${own('attempt')}  CHECK ((finished_at IS NULL) = (why IS NULL))
) BY_NUMBER;
CREATE UNIQUE INDEX attempt_by_job ON attempt (job, ordinal);

/* stderr is null unless the output was split. */
CREATE TABLE output (
  attempt INTEGER PRIMARY KEY REFERENCES attempt ON DELETE CASCADE,
  bytes BLOB NOT NULL,
  stderr BLOB
) BY_NUMBER;

CREATE TABLE stdin (
  job INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
  bytes BLOB NOT NULL
) BY_NUMBER;

/* job.depends_on holds what the user asked for. These rows hold the current state of each dependency. */
CREATE TABLE dependency (
  child INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  parent INTEGER NOT NULL,
  ordinal COUNT NOT NULL,
  wants TEXT NOT NULL CHECK (wants IN ('ok', 'any', 'notok')),
  phase TEXT NOT NULL CHECK (phase IN ('open', 'met', 'failed')),
  PRIMARY KEY (child, parent)
) BY_KEY;
CREATE INDEX dependency_by_parent ON dependency (parent, phase, child);

/* A row is written in the transaction of its jobs and outlives them, so a repeated enqueue inserts nothing. */
CREATE TABLE idempotency (
  key TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  used_at TIME NOT NULL,
  ids TEXT NOT NULL DEFAULT '[]'
) BY_NUMBER;
CREATE INDEX idempotency_used ON idempotency (used_at);

CREATE TABLE schedule (
  number NUMBERED,
  name TEXT NOT NULL UNIQUE,
  cron TEXT,
  zone TEXT,
  every_ms DURATION,
  anchor_at TIME,
  overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue', 'allow')),
  catch_up TEXT NOT NULL CHECK (catch_up IN ('none', 'one', 'all')),
  job TEXT NOT NULL,
  created_at TIME NOT NULL,
  paused_at TIME,
  paused_by TEXT,
  next_at TIME,
  last_at TIME,
  last_job TEXT,
  waiting COUNT NOT NULL DEFAULT 0,
  CHECK ((cron IS NULL) = (zone IS NULL)),
  CHECK ((cron IS NULL) = (every_ms IS NOT NULL)),
  CHECK ((every_ms IS NULL) = (anchor_at IS NULL)),
  CHECK (paused_at IS NULL OR next_at IS NULL)
) BY_NUMBER;
CREATE INDEX schedule_next ON schedule (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX schedule_waiting ON schedule (number) WHERE waiting > 0;

/* The primary key lets each tick enqueue its job only once. Rows are kept for some hours, so that a clock set back repeats no tick. */
CREATE TABLE tick (
  schedule INTEGER NOT NULL REFERENCES schedule ON DELETE CASCADE,
  at TIME NOT NULL,
  manual FLAG NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('waiting', 'open', 'closed')),
  job INTEGER,
  PRIMARY KEY (schedule, at, manual)
) BY_KEY;
CREATE INDEX tick_open ON tick (schedule, job) WHERE phase = 'open';
CREATE INDEX tick_waiting ON tick (schedule, at) WHERE phase = 'waiting';

/*
 * Every change appends rows here. A fold turns them into events, counters and figures (parts/log.ts). So no transaction waits for a
 * row that all others change, too. A row stands for that many jobs, and for an event unless its kind is null. It moves the jobs
 * and their bytes from the old queue and state to the new ones, and counts them under figure, in the new queue.
 */
CREATE TABLE log (
  seq ROW_NUMBER,
  at INTEGER NOT NULL,
  kind TEXT,
  actor TEXT,
  jobs INTEGER NOT NULL DEFAULT 1,
  first_job INTEGER,
  id TEXT,
  queue INTEGER,
  attempt INTEGER,
  detail TEXT,
  old_queue INTEGER,
  old_state TEXT,
  old_bytes INTEGER,
  new_queue INTEGER,
  new_state TEXT,
  new_bytes INTEGER,
  figure TEXT,
  figure_at INTEGER,
  name TEXT,
  wait_ms INTEGER,
  run_ms INTEGER
) BY_NUMBER;
/* Jobs that were enqueued together have one row. It stands for one event number per job, and its own number is the last of them. */
CREATE TABLE event (
  number INTEGER PRIMARY KEY,
  at TIME NOT NULL,
  kind TEXT NOT NULL,
  actor TEXT,
  jobs NUMBER NOT NULL DEFAULT 1,
  first_job NUMBER,
  id TEXT,
  queue NUMBER,
  attempt COUNT,
  detail TEXT
) BY_NUMBER;
/* Holds the number of the last event in its only row, because that event may have been removed. */
CREATE TABLE event_number (last INTEGER NOT NULL) BY_NUMBER;
INSERT INTO event_number VALUES (0);

CREATE TABLE worker (
  id TEXT PRIMARY KEY,
  supervisor TEXT NOT NULL,
  pid INTEGER NOT NULL,
  start_time TEXT NOT NULL,
  host TEXT NOT NULL,
  boot TEXT NOT NULL,
  pid_namespace TEXT NOT NULL,
  hostname TEXT NOT NULL,
  concurrency INTEGER NOT NULL,
  queues TEXT,
  started_at TIME NOT NULL,
  last_heartbeat TIME NOT NULL,
  beat COUNT NOT NULL DEFAULT 0,
  draining FLAG NOT NULL DEFAULT 0,
  stop_order COUNT NOT NULL DEFAULT 0,
${own('worker')}  lease_until TIME NOT NULL DEFAULT 0
) BY_KEY;

CREATE TABLE supervisor (
  id TEXT PRIMARY KEY,
  pid INTEGER NOT NULL,
  start_time TEXT NOT NULL,
  host TEXT NOT NULL,
  boot TEXT NOT NULL,
  pid_namespace TEXT NOT NULL,
  stop_order COUNT NOT NULL DEFAULT 0
) BY_KEY;

/* The true numbers are these plus what the rows of log add to them. */
CREATE TABLE counter (
  queue INTEGER NOT NULL,
  state TEXT NOT NULL,
  jobs INTEGER NOT NULL,
  bytes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (queue, state)
) BY_KEY;

/* A row of rollup has the figures of one period, or of all time (tier 0), of a queue and a job name (rollup_kind). */
CREATE TABLE rollup_kind (
  number NUMBERED,
  queue INTEGER NOT NULL REFERENCES queue,
  name TEXT NOT NULL,
  UNIQUE (name, queue)
) BY_NUMBER;
/*
 * oldest_ms is the longest time that the oldest waiting job of the queue was seen waiting, in rows without a name. wait and run
 * hold the buckets of the times (core/rules/histogram.ts), with their sum, the shortest and the longest.
 */
CREATE TABLE rollup (
  tier INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  ${figures('enqueued', 'dropped', 'completed', 'failed', 'dead', 'cancelled', 'released', 'lost', 'oldest_ms')},
  ${histogram('wait')},
  ${histogram('run')},
  PRIMARY KEY (tier, at, kind)
) BY_KEY;
`;

/** Returns the statements that create the tables and indexes in a database. */
export function schemaText(dialect: SchemaDialect): string {
  const own = (table: string): string => (dialect.own[table] ?? []).map((line) => `  ${line},\n`).join('');
  return inWordsOf(dialect, tables(own) + dialect.more);
}

/** Returns statements in the words of a database. */
export function inWordsOf({ words, unchecked }: SchemaDialect, text: string): string {
  let table = '';
  return text
    .replaceAll(RANGED_COLUMN, (all, name, column, word) => {
      if (name !== undefined) table = name;
      if (column === undefined) return all;
      const check = unchecked.includes(table) ? '' : ` CHECK (${inRange(RANGED[word]!, column)})`;
      return `${column} INTEGER${check}`;
    })
    .replaceAll(
      new RegExp(`\\b(?:${Object.keys(words).join('|')})\\b`, 'g'),
      (word) => words[word as 'TEXT'],
    );
}

/** Matches a table of which columns follow, or a column of a type in RANGED. */
const RANGED_COLUMN = new RegExp(
  `\\b(?:CREATE|ALTER) TABLE (\\w+)|\\b(\\w+) (${Object.keys(RANGED).join('|')})\\b`,
  'g',
);
