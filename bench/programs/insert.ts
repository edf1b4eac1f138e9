/** One durable insert into a small table that is there already: what `enqueue` cannot do without. */
import { DatabaseSync } from 'node:sqlite';

const db = new DatabaseSync(process.argv[2]!);
db.exec('PRAGMA synchronous = FULL');
db.prepare('INSERT INTO job (command, created_at) VALUES (?, ?)').run('true', Date.now());
db.close();
