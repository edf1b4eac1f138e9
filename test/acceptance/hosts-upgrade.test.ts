import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLocation } from '../../src/store/postgres/connection/location.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { versionText } from '../../src/store/postgres/schema-version.ts';
import { MIGRATIONS, newestVersion, type SchemaMigration } from '../../src/store/schema/migrations.ts';
import { FIRST_VERSION, SCHEMA_VERSION } from '../../src/store/schema/version.ts';
import { inHosts } from '../support/hosts.ts';
import { onServer } from '../support/postgres.ts';
import { enqueue, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';

const HARMLESS: SchemaMigration = {
  sql: 'ALTER TABLE job ADD COLUMN made_up TEXT',
  keepsPrograms: true,
};
const BREAKING: SchemaMigration = {
  sql: 'ALTER TABLE job ADD COLUMN required INTEGER',
  keepsPrograms: false,
};

/** Migrates the store of a host as a newer version of queuectl with these migrations would do it. */
async function migrateTo(box: Sandbox, migrations: SchemaMigration[]): Promise<void> {
  const location = readLocation(box.environment.QUEUECTL_DB!, {});
  await onServer(box.environment.QUEUECTL_DB!, (client) =>
    migrate(client, location, [...MIGRATIONS, ...migrations]),
  );
}

/** Makes the store as if this version of queuectl had the migrations, too. */
async function setVersion(box: Sandbox, text: string): Promise<void> {
  const { schema } = readLocation(box.environment.QUEUECTL_DB!, {});
  await onServer(box.environment.QUEUECTL_DB!, (client) =>
    client.query(`UPDATE "${schema}".meta SET value = '${text}' WHERE key = 'schema'`),
  );
}

test('programs of all versions since the last breaking migration can use the schema', () => {
  const LATER = FIRST_VERSION + 2;
  expect(newestVersion([])).toEqual({ version: FIRST_VERSION, oldest: FIRST_VERSION });
  expect(newestVersion([HARMLESS, HARMLESS])).toEqual({ version: LATER, oldest: FIRST_VERSION });
  expect(newestVersion([HARMLESS, BREAKING])).toEqual({ version: LATER, oldest: LATER });
  expect(newestVersion([BREAKING, HARMLESS])).toEqual({ version: LATER, oldest: LATER - 1 });
});

test(
  'workers of several hosts and all commands continue after a compatible migration',
  inHosts(['alpha', 'beta'], async (alpha, beta) => {
    const trace = join(alpha.directory, 'trace');
    const gate = join(alpha.directory, 'gate');
    const alphaWorkers = await alpha.startWorkers();
    const betaWorkers = await beta.startWorkers();
    const command = `echo start >>${trace}; while [ ! -e ${gate} ]; do sleep 0.05; done; echo end >>${trace}`;
    for (const id of ['a', 'b']) await enqueue(alpha, id, command, { max_retries: 1 });
    await until(() => lines(trace).length === 2, 'both hosts run a job');
    await migrateTo(alpha, [HARMLESS]);
    writeFileSync(gate, '');
    for (const id of ['a', 'b']) await untilState(beta, id, 'completed');
    await enqueue(beta, 'later', `echo later >>${trace}`);
    await untilState(alpha, 'later', 'completed');
    expect(lines(trace).sort()).toEqual(['end', 'end', 'later', 'start', 'start']);
    expect((await alpha.run(['db', 'migrate'])).code).toBe(0);
    expect((await beta.run(['doctor'])).stdout).toContain(
      `version ${SCHEMA_VERSION + 1}; this version of queuectl has version ${SCHEMA_VERSION}`,
    );
    for (const workers of [alphaWorkers, betaWorkers]) expect(workers.output()).not.toContain('schema');
    expect((await beta.run(['worker', 'stop'])).stdout).toBe('stopped 2 workers on hosts alpha, beta\n');
  }),
);

test(
  'after a breaking migration, workers leave their jobs running and name what to do',
  inHosts(['alpha', 'beta'], async (alpha, beta) => {
    const trace = join(alpha.directory, 'trace');
    const gate = join(alpha.directory, 'gate');
    const workers = await alpha.startWorkers();
    const command = `echo start >>${trace}; while [ ! -e ${gate} ]; do sleep 0.05; done; echo end >>${trace}`;
    await enqueue(alpha, 'job', command, { max_retries: 1 });
    await until(() => lines(trace).length === 1, 'the job runs');
    await migrateTo(beta, [BREAKING]);
    expect(await workers.exit).toBe(5);
    expect(workers.output()).toContain('upgrade queuectl on this host, and start its workers again');
    for (const args of [['enqueue', 'true'], ['status'], ['worker', 'stop']]) {
      const refused = await beta.run(args);
      const versions = `version ${SCHEMA_VERSION + 1}; this version of queuectl supports versions up to ${SCHEMA_VERSION}`;
      expectRefusal(refused, 5, new RegExp(`has schema ${versions}`));
      expect(refused.stderr).toContain('upgrade queuectl on this host');
    }
    // The job goes on, and a worker of the new version takes it over.
    expect(lines(trace)).toEqual(['start']);
    await setVersion(alpha, versionText(newestVersion()));
    await alpha.startWorkers();
    writeFileSync(gate, '');
    expect(await untilState(beta, 'job', 'completed')).toMatchObject({ crashes: 0 });
    expect(lines(trace)).toEqual(['start', 'end']);
  }),
);
