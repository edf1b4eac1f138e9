import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { APPLICATION_ID } from '../../src/store/sqlite/schema-version.ts';
import { onServer, type TempSchema } from './postgres.ts';

const schemaText = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'store-0.2.0', `${name}.sql`), 'utf8');

const INSERT_JOB = `INSERT INTO queue (name) VALUES ('default');
  INSERT INTO job (id, command, queue, priority, max_retries, cwd, state, phase, created_at, updated_at, due_at)
    VALUES ('job', 'true', 1, 0, 3, '/', 'pending', 'ready', 1, 1, 1);
  INSERT INTO counter (queue, state, jobs) VALUES (1, 'pending', 1)`;

/** Creates a database with one job as queuectl 0.2.0 made it. */
export function makeSqliteStoreOf020(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(schemaText('sqlite'));
  db.exec(`INSERT INTO meta VALUES ('epoch', '0123456789ab'); ${INSERT_JOB};
    PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 22`);
  db.close();
}

/** Creates the tables of a queue with one job in a schema as queuectl 0.2.0 made them. */
export async function makePostgresStoreOf020({ url, name }: TempSchema): Promise<void> {
  await onServer(url, (client) =>
    client.query(`BEGIN; CREATE SCHEMA IF NOT EXISTS ${name}; SET LOCAL search_path = ${name}, pg_temp;
      ${schemaText('postgres')};
      INSERT INTO meta VALUES ('epoch', '0123456789ab'), ('store', 'ba9876543210'), ('schema', '1 1'); ${INSERT_JOB}; COMMIT`),
  );
}
