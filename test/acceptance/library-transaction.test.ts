/** Enqueues jobs in a transaction of the program itself. */
import { expect } from 'bun:test';
import type pg from 'pg';
import type { SqlClient } from '../../src/index.ts';
import { onEachRuntime, printedBy } from '../support/library.ts';
import { makeTempSchema } from '../support/postgres.ts';

/** Opens the queue and a client of the package pg, whose search path has a table `job` of its own. */
const HEAD = `
import pg from 'pg';
import { openQueue } from 'queuectl';
const [db] = process.argv.slice(-1);
const queue = await openQueue({ db, actor: 'program' });
const { searchParams } = new URL(db);
const schema = searchParams.get('schema');
const connectionString = db.split('?')[0];
const client = new pg.Client({ connectionString });
client.on('error', () => {});
await client.connect();
await client.query('CREATE TEMP TABLE job (number int)');
await client.query('CREATE TEMP TABLE mine (id text PRIMARY KEY)');
const ids = async () => (await queue.list()).map((job) => job.id).sort();
const codeOf = (promise) => promise.then(() => 'fulfilled', (error) => error.code + ': ' + error.message);
const print = async (result) => {
  console.log(JSON.stringify(result));
  await client.end().catch(() => {});
  await queue.close();
};
`;

/** The clients of the package pg fit the type of the library. */
type Fits<T extends SqlClient> = T;
export type Fitting = [Fits<pg.Client>, Fits<pg.PoolClient>];

function transactionTest(title: string, program: string, expected: unknown): void {
  onEachRuntime(title, async (runtime) => {
    const schema = await makeTempSchema();
    try {
      expect(printedBy(runtime, HEAD + program, schema.url)).toEqual(expected);
    } finally {
      await schema.drop();
    }
  });
}

transactionTest(
  'a job that is enqueued in a transaction exists if, and only if, the transaction is committed',
  `
const seen = [];
for (const end of ['ROLLBACK', 'COMMIT']) {
  await client.query('BEGIN');
  await client.query("INSERT INTO mine VALUES ('row')");
  const job = await queue.enqueue({ command: 'true', id: 'a', queue: 'new', tags: { n: '1' } }, { client });
  const many = await queue.enqueue(['true', { argv: ['true'], id: 'c', depends_on: ['a'] }], { client });
  seen.push([job.id, job.state, job.queue, many.length, many[1].state, await ids()]);
  await client.query(end);
  seen.push((await ids()).length, (await client.query('SELECT count(*)::int AS n FROM mine')).rows[0].n);
}
// The connection is lost before the commit.
await client.query('BEGIN');
await queue.enqueue({ command: 'true', id: 'lost' }, { client });
const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
const other = new pg.Client({ connectionString });
await other.connect();
await other.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
const commit = await client.query('COMMIT').then(() => 'committed', () => 'failed');
await other.end();
const events = [];
for await (const event of queue.events({ after: 0 })) {
  events.push([event.kind, event.job_id, event.actor]);
  if (events.length === 3) break;
}
await print({ seen, commit, left: (await ids()).includes('lost'), counts: (await queue.counts()).pending, kinds: [...new Set(events.map(([kind,, actor]) => kind + ' by ' + actor))] });
`,
  {
    seen: [['a', 'pending', 'new', 2, 'pending', []], 0, 0, ['a', 'pending', 'new', 2, 'pending', []], 3, 1],
    commit: 'failed',
    left: false,
    counts: 3,
    kinds: ['enqueued by program'],
  },
);

transactionTest(
  'an enqueue in a transaction leaves nothing behind: no setting, no statement, no savepoint',
  `
const state = async () => {
  const { rows: [row] } = await client.query(\`SELECT current_setting('search_path') AS path, current_setting('statement_timeout') AS timeout,
    current_setting('plan_cache_mode') AS plans, current_setting('enable_seqscan') AS scans,
    (SELECT count(*)::int FROM pg_prepared_statements) AS prepared, to_regclass('job')::text AS job\`);
  return row;
};
await client.query("SET search_path = pg_temp, public");
const before = await state();
await client.query('BEGIN');
await client.query("SET LOCAL search_path = public, pg_catalog");
const inside = await state();
await queue.enqueue({ command: 'true', id: 'one' }, { client });
const insideAfter = await state();
const exists = await codeOf(queue.enqueue({ command: 'true', id: 'one' }, { client }));
const afterError = await state();
const savepoint = await codeOf(client.query('SAVEPOINT mine; RELEASE SAVEPOINT mine'));
const leftover = await client.query('SAVEPOINT probe').then(() => codeOf(client.query('RELEASE SAVEPOINT queuectl_enqueue')));
await client.query('ROLLBACK TO SAVEPOINT probe');
await client.query('COMMIT');
const after = await state();
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
await print({ same: [same(inside, insideAfter), same(inside, afterError), same(before, after)], prepared: after.prepared, exists, savepoint, leftover, ids: await ids() });
`,
  {
    same: [true, true, true],
    prepared: 0,
    exists: "job-exists: a job with the id 'one' already exists",
    savepoint: 'fulfilled',
    leftover: '3B001: savepoint "queuectl_enqueue" does not exist',
    ids: ['one'],
  },
);

transactionTest(
  'an idle worker starts a job as soon as its transaction is committed',
  `
await client.query('INSERT INTO ' + schema + ".setting VALUES ('poll-interval', '1h')");
const worker = await queue.startWorker();
await client.query('BEGIN');
const job = await queue.enqueue('true', { client });
const early = await codeOf(queue.wait(job.id, { timeoutMs: 100 }));
await client.query('COMMIT');
const { state } = await queue.wait(job.id, { timeoutMs: 35000 });
await worker.stop();
await print({ early: early.split(':')[0], state });
`,
  { early: 'job-not-found', state: 'completed' },
);

transactionTest(
  'keys, isolation levels and calls at the same time work in a transaction',
  `
await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE');
// Either of the first two may come first.
const add = (job) => queue.enqueue(job, { client }).then(({ id }) => id, (error) => error.code);
const added = await Promise.all([
  add({ command: 'true', id: 'a' }),
  add({ command: 'true', id: 'a' }),
  add({ command: 'true', id: 'b', unique_key: 'k', stdin: 'text' }),
]);
const taken = await queue.enqueue({ command: 'true', unique_key: 'k' }, { client });
const keyed = [];
for (let i = 0; i < 2; i++)
  keyed.push((await queue.enqueue({ command: 'true', id: 'keyed' }, { client, idempotency_key: 'x' })).id);
await client.query('COMMIT');
const later = await queue.enqueue({ command: 'true', id: 'keyed' }, { idempotency_key: 'x' });
await print({ added: added.sort(), taken: taken.id, keyed, later: later.id, ids: await ids(), counts: (await queue.counts()).pending });
`,
  {
    added: ['a', 'b', 'job-exists'],
    taken: 'b',
    keyed: ['keyed', 'keyed'],
    later: 'keyed',
    ids: ['a', 'b', 'keyed'],
    counts: 3,
  },
);

transactionTest(
  'a client without a transaction, of another database or of another kind is refused',
  `
const refused = [];
const refuse = async (given) => refused.push(await codeOf(queue.enqueue('true', { client: given })));
await refuse(client);
const pool = new pg.Pool({ connectionString });
await refuse(pool);
await pool.end();
const elsewhere = new pg.Client({ connectionString: connectionString.replace(/[^/]*$/, 'template1') });
await elsewhere.connect();
await elsewhere.query('BEGIN');
await refuse(elsewhere);
refused.push((await elsewhere.query('SELECT 1 AS one')).rows[0].one);
await elsewhere.end();
await refuse('postgres://');
await client.query('BEGIN');
refused.push(await codeOf(queue.enqueue({ command: 'true', comand: 'x' }, { client })));
refused.push(await codeOf(queue.enqueue('true', { cleint: client })));
await client.query('COMMIT');
await print({ refused, ids: await ids() });
`,
  {
    refused: [
      'wrong-state: the client has not begun a transaction',
      'wrong-state: the client has not begun a transaction',
      expect.stringMatching(
        /^wrong-state: the client is not connected to the database of the queue \(postgres:/,
      ),
      1,
      'invalid-value: client must be a connection of the package pg, not a string',
      expect.stringMatching(/^invalid-job: .*comand/),
      expect.stringMatching(/^invalid-job: .*cleint/),
    ],
    ids: [],
  },
);

onEachRuntime('a queue in a file refuses a client', (runtime, _, directory) => {
  const program = `
import { openQueue } from 'queuectl';
const queue = await openQueue({ db: process.argv.at(-1) + '/file.db' });
const client = { query: async () => ({ rows: [], rowCount: 0 }) };
const refused = await queue.enqueue('true', { client }).catch((error) => error.code + ': ' + error.message);
console.log(JSON.stringify({ refused, jobs: (await queue.list()).length }));
await queue.close();
`;
  expect(printedBy(runtime, program, directory)).toEqual({
    refused: "wrong-state: the option 'client' needs a queue in PostgreSQL, and this queue is a file",
    jobs: 0,
  });
});
