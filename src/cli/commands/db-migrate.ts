import { actorOf } from '../../actions/actor.ts';
import { migrateStore, migrationSqlOf, previewMigration } from '../../actions/migrate.ts';
import { countOf } from '../../core/words.ts';
import { defineCommand } from '../command.ts';

export default defineCommand({
  name: 'db migrate',
  summary: 'Upgrade the database to the schema of this version',
  flags: {
    'dry-run': { help: 'show what would change without changing anything' },
    sql: { help: 'print the SQL for an administrator of PostgreSQL instead of running it' },
  },
  examples: [
    'queuectl db migrate --dry-run',
    'queuectl db migrate',
    'queuectl db migrate --sql | psql --username postgres app',
  ],
  notes: [
    "You need this command only after an upgrade of queuectl. 'worker start' also upgrades the database, and so does a command that writes if no worker of the older version is running. Commands that only read never upgrade the database. After the upgrade, the older version can no longer open it.",
    "The command fails while workers of the older version are running. To stop them without stopping their jobs, run 'queuectl worker stop --leave'.",
    'With --sql, the command prints the SQL that creates or upgrades the schema in PostgreSQL and grants its use to the role in the URL. It prints nothing if the schema is current. Then queuectl needs no right to create tables.',
  ],
  async run({ io, location, environment, anyOwner, storeTimeoutMs }, input) {
    if (input.has('sql')) {
      io.out(await migrationSqlOf(location, storeTimeoutMs));
      return;
    }
    const dryRun = input.has('dry-run');
    const run = dryRun ? previewMigration : migrateStore;
    const { db, from, to, workers } = await run(location, actorOf(environment), { anyOwner, storeTimeoutMs });
    if (io.json) {
      io.out(`${JSON.stringify({ db, from, to, workers, migrated: from < to && !dryRun })}\n`);
      return;
    }
    if (from === to) io.out(`the database has schema version ${to}; nothing to do\n`);
    else
      io.out(`${dryRun ? 'would upgrade' : 'upgraded'} the database from schema version ${from} to ${to}\n`);
    if (workers.length > 0)
      io.note(
        `${countOf(workers.length, 'worker')} of the older version must stop first: queuectl worker stop --leave`,
      );
  },
});
