/** Makes one durable insert into a small existing table, the minimum that `enqueue` has to do. */
import { DatabaseSync } from 'node:sqlite';

const db = new DatabaseSync(process.argv[2]!);
db.exec('PRAGMA synchronous = FULL');
db.prepare('INSERT INTO job (command, created_at) VALUES (?, ?)').run('true', Date.now());
db.close();
