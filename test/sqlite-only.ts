const DATABASE_FILE = 'is about the database file of SQLite';
const BACKUP = 'is about backup, restore or repair, which PostgreSQL has programs of its own for';
const WRITES_SQL = 'changes the rows or the schema of SQLite itself';
const EARLIER_VERSION = 'is about stores of earlier versions, and no version has had a PostgreSQL store yet';
const NO_SYNC =
  'fails because the server of the tests does not sync; postgres-care.test.ts has the tests of doctor';
const OWN_CHOICE = 'is about PostgreSQL, and chooses its store itself';
const NO_STORE = 'uses no store';
const WORDS = 'is about the wording of input or output, which is the same on every store';
const LONG_PAGE =
  'is about the page in the browser and takes long; it passes on PostgreSQL, too (QUEUECTL_TEST_STORE=postgres)';
const MOVED_LIST =
  'needs two lists to change at once; otherwise the first one moves the other from under the pointer';
const PROCESSES = 'is about processes and their files, which the store does not see';

/**
 * The files in test/acceptance, test/http and test/ui, and the tests in them, that run on SQLite only, each with the reason. All
 * others also run on PostgreSQL. A test is named by a part of its title.
 */
export const SQLITE_ONLY: Record<string, string | Record<string, string>> = {
  'test/acceptance/adding-a-field.test.ts': WRITES_SQL,
  'test/acceptance/aliases.test.ts': WORDS,
  'test/acceptance/alone.test.ts': DATABASE_FILE,
  'test/acceptance/at-most-once.test.ts': { 'as an imported file can contain it': WRITES_SQL },
  'test/acceptance/attack-coverage.test.ts': NO_STORE,
  'test/acceptance/attacks.test.ts': { 'is refused, and nothing changes': WORDS },
  'test/acceptance/attempt-numbers.test.ts': { 'replaced by an older copy': BACKUP },
  'test/acceptance/backup-refusals.test.ts': BACKUP,
  'test/acceptance/backup-target.test.ts': BACKUP,
  'test/acceptance/backup.test.ts': BACKUP,
  'test/acceptance/bad-input.test.ts': WORDS,
  'test/acceptance/bad-store.test.ts': DATABASE_FILE,
  'test/acceptance/commands.test.ts': PROCESSES,
  'test/acceptance/copied-host.test.ts': OWN_CHOICE,
  'test/acceptance/damaged-pages.test.ts': DATABASE_FILE,
  'test/acceptance/db-copy.test.ts': OWN_CHOICE,
  'test/acceptance/db.test.ts': BACKUP,
  'test/acceptance/doctor.test.ts': {
    'doctor reports a missing store and creates none': NO_SYNC,
    'on a healthy store doctor finds no damage': NO_SYNC,
    'doctor --quick skips the check': NO_SYNC,
    'doctor reports a missing store that cannot be created': DATABASE_FILE,
    'doctor reports a schema from before the first release': EARLIER_VERSION,
    'doctor fails on a database that others can write': DATABASE_FILE,
  },
  'test/acceptance/documents.test.ts': NO_STORE,
  'test/acceptance/dry-run.test.ts': {
    'names the jobs that the command changes':
      'needs many commands; conformance tests each action on both stores',
  },
  'test/acceptance/edge-cases.test.ts': {
    'a worker whose database was deleted': DATABASE_FILE,
  },
  'test/acceptance/enqueue-cost.test.ts': 'measures what users of SQLite pay',
  'test/acceptance/enqueue-stream.test.ts': {
    'a stream ends if its store is moved away': DATABASE_FILE,
  },
  'test/acceptance/events.test.ts': {
    'commands that change something wake followers': 'watches the file that wakes followers on SQLite',
  },
  'test/acceptance/frozen-workers.test.ts':
    'is about leases on one host; with many hosts, a worker leaves when its lease is over (many-hosts.test.ts)',
  'test/acceptance/full-disk.test.ts': {
    'workers can be stopped on a full disk': 'needs a full disk under the store',
    'on a full disk no more jobs start': 'needs a full disk under the store',
    'if the disk is too full to store the order': 'needs a full disk under the store',
  },
  'test/acceptance/generated-docs.test.ts': NO_STORE,
  'test/acceptance/hard-links.test.ts': DATABASE_FILE,
  'test/acceptance/help-coverage.test.ts': NO_STORE,
  'test/acceptance/help.test.ts': NO_STORE,
  'test/acceptance/hidden-url.test.ts': DATABASE_FILE,
  'test/acceptance/hosts-limits.test.ts': OWN_CHOICE,
  'test/acceptance/hosts-upgrade.test.ts': OWN_CHOICE,
  'test/acceptance/hosts.test.ts': OWN_CHOICE,
  'test/acceptance/invalid-settings.test.ts': WRITES_SQL,
  'test/acceptance/leftovers.test.ts': BACKUP,
  'test/acceptance/library-types.test.ts': NO_STORE,
  'test/acceptance/library-transaction.test.ts': OWN_CHOICE,
  'test/acceptance/licenses.test.ts': NO_STORE,
  'test/acceptance/log.test.ts': DATABASE_FILE,
  'test/acceptance/job-cost.test.ts': 'measures what users of SQLite pay',
  'test/acceptance/many-hosts.test.ts': OWN_CHOICE,
  'test/acceptance/metrics.test.ts': {
    'the size of the write-ahead log': DATABASE_FILE,
    'every metric and label that the Grafana dashboard': 'includes the size of the WAL file of SQLite',
  },
  'test/acceptance/missing-store.test.ts': {
    'commands that add something create the store': DATABASE_FILE,
    'a --db whose directory does not exist': DATABASE_FILE,
    'unusable database URLs': DATABASE_FILE,
    'beside the -wal of one that was moved away': DATABASE_FILE,
  },
  'test/acceptance/namespaces.test.ts': {
    'if /proc belongs to another pid namespace':
      'cancels a job after the lease of its killed workers; on PostgreSQL, the guard has stopped it by then',
  },
  'test/acceptance/odd-database.test.ts': DATABASE_FILE,
  'test/acceptance/odd-environment.test.ts': { 'with a relative HOME': DATABASE_FILE },
  'test/acceptance/odd-files.test.ts': DATABASE_FILE,
  'test/acceptance/odd-paths.test.ts': DATABASE_FILE,
  'test/acceptance/output-colors.test.ts': WORDS,
  'test/acceptance/output-formats.test.ts': WORDS,
  'test/acceptance/package.test.ts': NO_STORE,
  'test/acceptance/percentiles.test.ts': { 'percentiles of five distributions': WRITES_SQL },
  'test/acceptance/postgres-care.test.ts': OWN_CHOICE,
  'test/acceptance/postgres-clock.test.ts': OWN_CHOICE,
  'test/acceptance/postgres-connections.test.ts': OWN_CHOICE,
  'test/acceptance/postgres-failover.test.ts': OWN_CHOICE,
  'test/acceptance/postgres-outage.test.ts': OWN_CHOICE,
  'test/acceptance/postgres-roles.test.ts': OWN_CHOICE,
  'test/acceptance/postgres.test.ts': OWN_CHOICE,
  'test/acceptance/shared-output.test.ts': OWN_CHOICE,
  'test/acceptance/shared-output-faults.test.ts': OWN_CHOICE,
  'test/acceptance/process-limits.test.ts': {
    'a worker that cannot start a process for a job': 'leaves no room for the guard, which PostgreSQL needs',
  },
  'test/acceptance/process-names.test.ts': PROCESSES,
  'test/acceptance/repair.test.ts': BACKUP,
  'test/acceptance/restore-while-running.test.ts': BACKUP,
  'test/acceptance/runtime.test.ts': { 'runs no code from the directory': DATABASE_FILE },
  'test/acceptance/scenarios.test.ts': NO_STORE,
  'test/acceptance/guards.test.ts': OWN_CHOICE,
  'test/acceptance/stop.test.ts': {
    'only the workers of the store in $QUEUECTL_HOME': DATABASE_FILE,
    'a suspended worker that is no longer registered': WRITES_SQL,
  },
  'test/acceptance/swap.test.ts': BACKUP,
  'test/acceptance/terminal-text.test.ts': DATABASE_FILE,
  'test/acceptance/top.test.ts': { 'top reports a missing store': DATABASE_FILE },
  'test/acceptance/upgrade.test.ts': EARLIER_VERSION,
  'test/http/api.test.ts': {
    'without its store a server is alive but not ready': DATABASE_FILE,
    'after its store was replaced': DATABASE_FILE,
    'a server still has a lock': DATABASE_FILE,
    'documents only answers that a test has received': 'needs the answers of the tests above',
  },
  'test/http/host-names.test.ts': NO_STORE,
  'test/http/http-docs.test.ts': NO_STORE,
  'test/http/job-page.test.ts': WRITES_SQL,
  'test/http/sessions.test.ts': NO_STORE,
  'test/http/shared-answers.test.ts': NO_STORE,
  'test/ui/filter.test.ts': NO_STORE,
  'test/ui/job-pages.test.ts': NO_STORE,
  'test/ui/large-output.test.ts': LONG_PAGE,
  'test/ui/layout.test.ts': LONG_PAGE,
  'test/ui/metrics.test.ts': WRITES_SQL,
  'test/ui/output-lines.test.ts': NO_STORE,
  'test/ui/reconnect.test.ts': { 'and then its store, were unavailable': DATABASE_FILE },
  'test/ui/shared-output.test.ts': OWN_CHOICE,
  'test/ui/steady-rows.test.ts': NO_STORE,
  'test/ui/steady.test.ts': { 'a pointer on one list of the overview': MOVED_LIST },
  'test/ui/tabs.test.ts': { 'while the store is missing': DATABASE_FILE },
  'test/ui/words.test.ts': NO_STORE,
};
