/** insert-many bare|store FILE JOBS: inserts the rows of P3 in one durable transaction with one prepared statement. */
import { DatabaseSync } from 'node:sqlite';

const COLUMNS = `number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, command TEXT NOT NULL, argv TEXT, queue INTEGER NOT NULL,
  priority INTEGER NOT NULL, max_retries INTEGER NOT NULL, timeout_ms INTEGER, run_at INTEGER, backoff_base REAL,
  cwd TEXT NOT NULL, env TEXT, tags TEXT, state TEXT NOT NULL, phase TEXT NOT NULL, created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, due_at INTEGER`;

const [table, file, jobs] = process.argv.slice(2);
const db = new DatabaseSync(file!);
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
if (table === 'bare')
  db.exec(`CREATE TABLE queue (number INTEGER PRIMARY KEY, name TEXT); CREATE TABLE job (${COLUMNS}) STRICT`);
db.exec('BEGIN IMMEDIATE');
db.exec("INSERT INTO queue (number, name) VALUES (1, 'images')");
const insert =
  db.prepare(`INSERT INTO job (id, command, argv, queue, priority, max_retries, timeout_ms, run_at, backoff_base,
  cwd, env, tags, state, phase, created_at, updated_at, due_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?)`);
const now = Date.now();
for (let i = 0; i < Number(jobs); i++) {
  const id = `1m7ey0mh${String(i).padStart(5, '0')}`;
  const command = `convert image-${i}.jpg image-${i}.png`;
  insert.run(id, command, null, 1, i % 10, 5, null, null, null, '/', null, null, 'ready', now, now, now);
}
db.exec('COMMIT');
db.close();
