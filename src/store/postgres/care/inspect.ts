import { join } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { type Finding, fail, ok, warn } from '../../../core/rules/finding.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { countOf } from '../../../core/text/words.ts';
import { formatDuration } from '../../../core/time/duration.ts';
import { nearestDirectory } from '../../../files/own-files.ts';
import { type StateDirectory, stateDirectory } from '../../../state/state-directory.ts';
import { stateProblems } from '../../../state/state-problems.ts';
import type { Inspection } from '../../contract/file-care.ts';
import { diskFinding, permissionFindings, problemsFinding, schemaFinding } from '../../findings.ts';
import { queuectlHome } from '../../location.ts';
import type { Row } from '../../row.ts';
import { SCHEMA_VERSION } from '../../schema/version.ts';
import { type Client, connectClient } from '../connection/client.ts';
import { connect, type ServerConnection } from '../connection/connection.ts';
import { translateError } from '../connection/failures.ts';
import { type PostgresLocation, quoteName, readLocation } from '../connection/location.ts';
import { refuseServer } from '../connection/server-checks.ts';
import { readIdentity } from '../identity.ts';
import { readVersion, refuseUnsupported } from '../schema-version.ts';
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
      const state = await stateOf(db, home);
      const problems = stateProblems(state);
      found.files.push(...permissionFindings(problems, state.path));
      if (problems.length === 0) found.stateDirectory = state;
      found.contents.push(...(await rightsFindings(db, location)), ...(await queueFindings(db, whole)));
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

async function stateOf(db: ServerConnection, home: string): Promise<StateDirectory> {
  await readIdentity(db);
  return stateDirectory(join(home, `${db.identity.store}.d`), true);
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
  const snapshots = snapshotFinding(
    (await client.query<Snapshot & Row>(sql.oldestSnapshot)).rows[0],
    location,
  );
  return [
    ...durabilityFindings(facts),
    connectionsFinding(facts),
    Math.abs(skew) > LARGE_SKEW_MS
      ? warn(
          'server clock',
          `${formatDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} the clock of this machine`,
          'synchronize both clocks, for example by NTP',
        )
      : ok('server clock', 'agrees with the clock of this machine'),
    bloatFinding(dead, facts.autovacuum === 'on', snapshots.status === 'ok', location),
    snapshots,
  ];
}

interface Snapshot {
  holder: string;
  age_ms: number | null;
  hidden: number;
}

/** Judges the oldest transaction, if there is one. The time of a session is null if its role is another one that this role cannot see. */
function snapshotFinding(oldest: Snapshot | undefined, { user }: PostgresLocation): Finding {
  if (oldest !== undefined && (oldest.age_ms ?? 0) > OLD_SNAPSHOT_MS)
    return warn(
      'old snapshots',
      `${oldest.holder} has had a transaction open for ${formatDuration(oldest.age_ms!)}, so dead rows cannot be removed`,
      'end that transaction',
    );
  if (oldest !== undefined && oldest.hidden > 0)
    return warn(
      'old snapshots',
      `the role '${user}' cannot see for how long ${countOf(oldest.hidden, 'session')} of other roles have had a transaction open`,
      `run in psql: GRANT pg_monitor TO ${quoteName(user)}`,
    );
  return ok('old snapshots', 'none');
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

function connectionsFinding({ used, connections }: ServerFacts): Finding {
  const says = `${used} of ${connections} in use; a worker needs 2, and up to 5 while it is busy`;
  return used > connections * MANY_CONNECTIONS
    ? warn('connections', says, 'raise max_connections of the server, or use a pooler such as PgBouncer')
    : ok('connections', says);
}

/** Returns how many milliseconds the clock of the server is ahead of this one. Half of the round trip may be an error. */
async function clockSkew(client: Client): Promise<number> {
  const before = Date.now();
  const { now } = (await client.query<{ now: number }>(sql.clock)).rows[0]!;
  const after = Date.now();
  if (now >= before && now <= after) return 0;
  return now > after ? now - after : now - before;
}

function bloatFinding(
  dead: Row[],
  hasAutovacuum: boolean,
  canVacuum: boolean,
  { schema }: PostgresLocation,
): Finding {
  if (!hasAutovacuum)
    return warn('dead rows', 'autovacuum is off, so old rows are never removed', 'set autovacuum = on');
  if (dead.length === 0) return ok('dead rows', 'few');
  const tables = dead.map(({ table, dead: rows }) => `${formatCount(Number(rows))} in ${table}`);
  if (!canVacuum)
    return warn(
      'dead rows',
      `${tables.join(', ')}: a vacuum may not remove them yet`,
      'see old snapshots first. While such a transaction is open, a vacuum cannot help',
    );
  const fix = dead.map(({ table }) => `VACUUM ${quoteName(schema)}.${table}`).join('; ');
  return warn('dead rows', `${tables.join(', ')}: a vacuum is overdue`, `run in psql: ${fix}`);
}

interface Rights extends Row {
  works: number;
  creators: string | null;
  /** The owner of the schema, unless it is trusted or also owns the tables. */
  schemaOwner: string | null;
  tableOwner: string;
  allEnqueue: number;
  allWrite: number;
}

/** Warns about rights with which a role could run commands as the workers, or code as the owner of the schema. */
async function rightsFindings(db: ServerConnection, { schema, user }: PostgresLocation): Promise<Finding[]> {
  const rights = (await db.read((tx) => tx.get<Rights>(sql.rights)))!;
  const { works, creators, schemaOwner, tableOwner, allEnqueue, allWrite } = rights;
  const name = quoteName(schema);
  const problems: [string, string][] = [];
  if (schemaOwner !== null)
    problems.push([
      `${schemaOwner} owns the schema and may replace its tables`,
      `ALTER SCHEMA ${name} OWNER TO ${tableOwner}`,
    ]);
  if (creators !== null)
    problems.push([
      `${creators} may create objects in the schema`,
      `REVOKE CREATE ON SCHEMA ${name} FROM ${creators}`,
    ]);
  if (allEnqueue)
    problems.push([
      'every role may enqueue jobs',
      `REVOKE EXECUTE ON FUNCTION ${name}.enqueue(json) FROM PUBLIC`,
    ]);
  if (allWrite)
    problems.push(['every role may change tables', `REVOKE ALL ON ALL TABLES IN SCHEMA ${name} FROM PUBLIC`]);
  if (problems.length === 0) return [ok('rights', `the role '${user}' may ${works ? 'work' : 'only look'}`)];
  return problems.map(([what, fix]) => warn('rights', what, `run in psql: ${fix}`));
}

async function queueFindings(db: ServerConnection, whole: boolean): Promise<Finding[]> {
  const { rows } = (await db.read((tx) => tx.get<{ rows: number }>(sql.unfolded)))!;
  const log =
    rows > LONG_LOG_ROWS
      ? warn('log', `${formatCount(rows)} changes are not counted yet`, 'start a worker, which counts them')
      : ok('log', `${formatCount(rows)} changes to count`);
  return whole ? [log, problemsFinding('contents', await problemsOf(db), 'queuectl db check')] : [log];
}
