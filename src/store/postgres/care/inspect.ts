import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { formatDuration } from '../../../core/duration.ts';
import { QueueError } from '../../../core/errors.ts';
import { type Finding, fail, ok, warn } from '../../../core/finding.ts';
import { formatCount } from '../../../core/numbers.ts';
import { type StateDirectory, stateDirectory } from '../../../state/state-directory.ts';
import type { Inspection } from '../../contract/file-care.ts';
import { diskFinding } from '../../disk-finding.ts';
import { queuectlHome } from '../../location.ts';
import type { Row } from '../../row.ts';
import { type Client, connectClient } from '../client.ts';
import { type Connection, connect } from '../connection.ts';
import { translateError } from '../failures.ts';
import { readIdentity } from '../identity.ts';
import { type PostgresLocation, quoteName, readLocation } from '../location.ts';
import { readVersion, refuseUnsupported, SCHEMA_VERSION } from '../schema-version.ts';
import { refuseServer } from '../server.ts';
import * as sql from '../sql/inspect.ts';
import { problemsOf } from './check.ts';

/** `doctor` warns if more than this share of the connections is in use. */
const MANY_CONNECTIONS = 0.8;
const LARGE_SKEW_MS = 2000;
const OLD_SNAPSHOT_MS = 5 * 60_000;
const LONG_LOG_ROWS = 100_000;

const NOT_REACHED = fail('postgresql', 'not reached');

/** Collects findings about a server and a queue on it, without changing anything. With `whole`, it reads the whole queue. */
export async function inspectPostgres(
  url: string,
  whole: boolean,
  environment: NodeJS.ProcessEnv,
): Promise<Inspection> {
  const location = readLocation(url, environment);
  const home = queuectlHome(environment);
  const found: Inspection = {
    path: location.name,
    stateDirectory: null,
    isReadable: false,
    engine: NOT_REACHED,
    files: [diskFinding(nearestDirectory(home))],
    contents: [],
  };
  let client: Client | null = null;
  try {
    // A server that cannot be reached is a finding, so `doctor` reports it at once, whatever the store timeout is.
    client = await connectClient(location);
    const [shown] = (await client.query<{ server_version: string }>('SHOW server_version')).rows;
    found.engine = ok('postgresql', shown!.server_version);
    await refuseServer(client);
    found.contents = await serverFindings(client, location);
    const stored = await readVersion(client, location);
    refuseUnsupported(stored, location);
    const schema = stored.version;
    found.files.unshift(
      ok('store', schema === 0 ? `none yet; the first enqueue creates ${location.name}` : location.name),
    );
    if (schema > 0) found.contents.push(schemaFinding(schema));
    if (schema < SCHEMA_VERSION) return found;
    const db = connect(location, { actor: null, now: Date.now, first: client });
    client = null;
    try {
      found.stateDirectory = await stateOf(db, home);
      found.contents.push(...(await queueFindings(db, whole)));
      found.isReadable = true;
    } finally {
      await db.close();
    }
  } catch (error) {
    const known = translateError(error, location);
    if (!(known instanceof QueueError)) throw error;
    if (found.engine === NOT_REACHED) found.engine = fail('postgresql', known.message, known.hint);
    else found.contents.unshift(fail('store', known.message, known.hint));
  } finally {
    await client?.end().catch(() => {});
  }
  return found;
}

/** Returns the directory, or else the nearest one above it that exists. */
function nearestDirectory(path: string): string {
  let directory = path;
  while (!existsSync(directory) && directory !== dirname(directory)) directory = dirname(directory);
  return directory;
}

async function stateOf(db: Connection, home: string): Promise<StateDirectory> {
  await readIdentity(db);
  return stateDirectory(join(home, `${db.identity.store}.d`));
}

interface ServerFacts {
  fsync: string;
  full_page_writes: string;
  synchronous_commit: string;
  autovacuum: string;
  connections: number;
  used: number;
}

async function serverFindings(client: Client, location: PostgresLocation): Promise<Finding[]> {
  const facts = (await client.query<ServerFacts & Row>(sql.server)).rows[0]!;
  const skew = await clockSkew(client);
  const { rows: dead } = await client.query<Row>(sql.deadRows, [quoteName(location.schema)]);
  const [oldest] = (await client.query<{ holder: string; age_ms: number }>(sql.oldestSnapshot)).rows;
  return [
    ...durabilityFindings(facts),
    facts.used > facts.connections * MANY_CONNECTIONS
      ? warn(
          'connections',
          `${facts.used} of ${facts.connections} in use`,
          'raise max_connections of the server, or use a pooler such as PgBouncer',
        )
      : ok('connections', `${facts.used} of ${facts.connections} in use`),
    Math.abs(skew) > LARGE_SKEW_MS
      ? warn(
          'server clock',
          `${formatDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} the clock of this machine`,
          'synchronize both clocks, for example by NTP',
        )
      : ok('server clock', 'agrees with the clock of this machine'),
    bloatFinding(dead, facts.autovacuum === 'on', location),
    oldest !== undefined && oldest.age_ms > OLD_SNAPSHOT_MS
      ? warn(
          'old snapshots',
          `${oldest.holder} has had a transaction open for ${formatDuration(oldest.age_ms)}, so dead rows cannot be removed`,
          'end that transaction',
        )
      : ok('old snapshots', 'none'),
  ];
}

/** Without these settings, the crash of a server can lose changes that were reported as saved, or damage the database. */
function durabilityFindings({ fsync, full_page_writes, synchronous_commit }: ServerFacts): Finding[] {
  const settings = { fsync, full_page_writes, synchronous_commit };
  const off = Object.entries(settings).filter(([, value]) => value === 'off');
  if (off.length === 0) return [ok('durability', 'every commit is on disk')];
  return off.map(([name]) =>
    fail(
      name,
      name === 'synchronous_commit'
        ? 'off: a crash of the server can lose the last changes'
        : 'off: a crash of the server can damage the database',
      `set ${name} = on for the server`,
    ),
  );
}

/** Returns how many milliseconds the clock of the server is ahead of this one. Half of the round trip may be an error. */
async function clockSkew(client: Client): Promise<number> {
  const before = Date.now();
  const { now } = (await client.query<{ now: number }>(sql.clock)).rows[0]!;
  const after = Date.now();
  if (now >= before && now <= after) return 0;
  return now > after ? now - after : now - before;
}

function bloatFinding(dead: Row[], hasAutovacuum: boolean, { schema }: PostgresLocation): Finding {
  if (!hasAutovacuum)
    return warn('dead rows', 'autovacuum is off, so old rows are never removed', 'set autovacuum = on');
  if (dead.length === 0) return ok('dead rows', 'few');
  const tables = dead.map(({ table, dead: rows }) => `${formatCount(Number(rows))} in ${table}`);
  const fix = dead.map(({ table }) => `VACUUM ${quoteName(schema)}.${table}`).join('; ');
  return warn('dead rows', `${tables.join(', ')}: a vacuum is overdue`, `run in psql: ${fix}`);
}

function schemaFinding(version: number): Finding {
  if (version === SCHEMA_VERSION) return ok('schema', `version ${version}`);
  if (version > SCHEMA_VERSION)
    return warn(
      'schema',
      `version ${version}; this version of queuectl has version ${SCHEMA_VERSION} and can still use it`,
      'upgrade queuectl on this host',
    );
  return warn(
    'schema',
    `version ${version}; this version of queuectl needs version ${SCHEMA_VERSION}`,
    'queuectl db migrate',
  );
}

async function queueFindings(db: Connection, whole: boolean): Promise<Finding[]> {
  const { rows } = (await db.read((tx) => tx.get<{ rows: number }>(sql.unfolded)))!;
  const log =
    rows > LONG_LOG_ROWS
      ? warn('log', `${formatCount(rows)} changes are not counted yet`, 'start a worker, which counts them')
      : ok('log', `${formatCount(rows)} changes to count`);
  return whole ? [log, contentsFinding(await problemsOf(db))] : [log];
}

function contentsFinding(problems: string[]): Finding {
  return problems.length === 0
    ? ok('contents', 'no problems found')
    : fail('contents', problems.slice(0, 3).join('; '), 'queuectl db check');
}
