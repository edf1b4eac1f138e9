import { actorOf } from '../../actions/app.ts';
import {
  checkDatabase,
  previewRenewal,
  refuseRenewingFile,
  renewStore,
  repairDatabase,
} from '../../actions/transfer/db.ts';
import { migrateStore, migrationSqlOf, previewMigration } from '../../actions/transfer/migrate.ts';
import { countOf } from '../../core/text/words.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { RepairResult } from '../../store/contract/file-care.ts';
import { defineCommand } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { askToConfirm } from '../frame/job-action-command.ts';
import { printJson, printResult } from '../print/layout.ts';
import { printable } from '../print/text.ts';

const check = defineCommand({
  name: 'db check',
  summary: 'Check the database for damage',
  examples: ['queuectl db check', 'queuectl db check --db /backup/queue.db'],
  notes: [
    'The command reads the whole database and checks pages, indexes, references, counters, running jobs and settings. Workers can keep running. If it finds problems, it prints them and exits with code 1.',
  ],
  async run({ io, location, storeTimeoutMs }) {
    const { fix, ...check } = await checkDatabase(location, storeTimeoutMs);
    if (io.json) printJson(io, check);
    else if (check.ok) io.out('ok\n');
    else for (const problem of check.problems) io.out(`${printable(problem)}\n`);
    if (fix !== null && !io.json) io.err(`  ${fix}\n`);
    return check.ok ? 0 : 1;
  },
});

const LISTED_LOSSES = 20;

const repair = defineCommand({
  name: 'db repair',
  summary: 'Recover data from a damaged database',
  examples: ['queuectl db repair', 'queuectl db repair --json'],
  notes: [
    'Stop all workers first. The command copies every row that can be read to a new file, rebuilds the counters and replaces the database. The damaged file is kept in the same directory.',
    'The command prints what was saved and what was lost. It exits with code 1 if anything was lost. If the database is not damaged, it changes nothing and exits with code 4. If no job can be saved, it changes nothing and exits with code 5.',
  ],
  async run({ io, location, anyOwner }) {
    const repair = await repairDatabase({ clock: systemClock, random: Math.random }, location, anyOwner);
    if (io.json) printJson(io, repair);
    else print(io, repair);
    return repair.lost.length + repair.problems.length > 0 ? 1 : 0;
  },
});

function print(io: Io, { saved, lost, problems, kept }: RepairResult): void {
  for (const [table, rows] of Object.entries(saved)) io.out(`saved\t${table}\t${rows}\n`);
  for (const one of lost.slice(0, LISTED_LOSSES)) io.out(`lost\t${printable(one)}\n`);
  if (lost.length > LISTED_LOSSES)
    io.out(`lost\tand ${lost.length - LISTED_LOSSES} more; use --json to list them all\n`);
  for (const one of problems) io.out(`remaining\t${printable(one)}\n`);
  io.out(`kept\t${printable(kept)}\n`);
}

const migrate = defineCommand({
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
    'With --sql, the command prints the SQL that creates or upgrades the schema in PostgreSQL and grants its use to the role in the URL. Then queuectl needs no right to create tables. Comments at the end have the rights of roles that may only enqueue, only look or only work. If the schema is current, it prints only these.',
  ],
  async run({ io, location, environment, anyOwner, storeTimeoutMs }, input) {
    if (input.has('sql')) {
      io.out(await migrationSqlOf(location, storeTimeoutMs));
      return;
    }
    const dryRun = input.has('dry-run');
    const run = dryRun ? previewMigration : migrateStore;
    const { db, from, to, workers } = await run(location, actorOf(environment), {
      anyOwner,
      storeTimeoutMs,
    });
    if (io.json) return printJson(io, { db, from, to, workers, migrated: from < to && !dryRun });
    if (from === to) io.out(`the database has schema version ${to}; nothing to do\n`);
    else
      io.out(`${dryRun ? 'would upgrade' : 'upgraded'} the database from schema version ${from} to ${to}\n`);
    if (workers.length > 0)
      io.note(
        `${countOf(workers.length, 'worker')} of the older version must stop first: queuectl worker stop --leave`,
      );
  },
});

const renew = defineCommand({
  name: 'db renew',
  summary: 'Make a queue usable after pg_restore',
  access: 'write',
  flags: { yes: { short: 'y', help: 'do not ask for confirmation' } },
  examples: ['queuectl db renew', 'queuectl db renew --yes --db postgres://app@db2/app'],
  notes: [
    'Run this command after pg_restore, before any worker starts. It gives the queue a new identity, removes the registered workers, and puts the jobs that were running during the backup back into their queues. Their crash count increases by one. At-most-once jobs become dead instead.',
    'Never run it on a queue whose workers are running, because their jobs would run twice.',
  ],
  async run(context, input) {
    const { io } = context;
    await refuseRenewingFile(context.location);
    const app = await context.app({ ifMissing: 'refuse' });
    const { workers, running } = await previewRenewal(app);
    const found = `${countOf(workers, 'worker')}, ${countOf(running, 'running job')}`;
    const question = `renew ${await context.storeName()} (${found})?`;
    if (!input.has('yes') && !askToConfirm(context, question, 'to confirm: queuectl db renew --yes'))
      return 1;
    const renewed = await renewStore(app);
    printResult(io, renewed, `renewed a queue of ${countOf(renewed.jobs)}`, renewed.jobs);
    return 0;
  },
});

const init = defineCommand({
  name: 'init',
  summary: 'Explain that queuectl needs no initialization',
  examples: ['queuectl init'],
  async run({ io, storeName }) {
    const location = await storeName();
    if (io.json) printJson(io, { location });
    else
      io.out(
        `nothing to do: the first command that stores something creates the database (${printable(location)})\n`,
      );
  },
});

export default { check, repair, migrate, renew, init };
