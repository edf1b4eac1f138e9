import { expect, test } from 'bun:test';
import { postgresCare } from '../../src/store/postgres/care/server-care.ts';
import { connectClient } from '../../src/store/postgres/connection/client.ts';
import { quoteName, readLocation } from '../../src/store/postgres/connection/location.ts';
import type { Store } from '../../src/store/store.ts';
import { claimOne, ending, succeeded } from '../support/jobs.ts';
import { openTempPostgres } from '../support/postgres.ts';

/** Runs a test with a store, and a client that can call its SQL function. */
async function withFunction(
  work: (call: (job: unknown) => Promise<string>, store: Store, query: Query, url: string) => Promise<void>,
): Promise<void> {
  const { store, url, cleanup } = await openTempPostgres();
  const location = readLocation(url, {});
  const client = await connectClient(location);
  const query: Query = async (text, values) => (await client.query(text, values)).rows;
  const call = async (job: unknown): Promise<string> => {
    const text = `SELECT ${quoteName(location.schema)}.enqueue($1) AS id`;
    return (await query(text, [typeof job === 'string' ? job : JSON.stringify(job)]))[0]!.id!;
  };
  try {
    await work(call, store, query, url);
  } finally {
    await client.end();
    await store.close();
    await cleanup();
  }
}

type Query = (text: string, values?: unknown[]) => Promise<Record<string, string>[]>;

test('the SQL function adds a job with its event and counts', () =>
  withFunction(async (call, store, query, url) => {
    await store.set('max-retries', '7', () => {});
    await store.set('job-timeout', '1h30m', () => {});
    const plain = await call({ command: 'true' });
    expect(await store.get(plain)).toMatchObject({
      ...{
        command: 'true',
        queue: 'default',
        state: 'pending',
        cwd: '/',
        maxRetries: 7,
        timeoutMs: 5_400_000,
      },
      ...{ priority: 0, runAt: null, tags: {}, env: {}, name: null, delayed: false },
    });
    expect(plain).toMatch(/^[0-9a-hjkmnp-tv-z]{17}$/);
    const given = {
      command: 'echo ä',
      id: 'j-1',
      queue: 'mail',
      name: 'n',
      cwd: '/tmp',
      priority: -5,
      max_retries: 1,
    };
    const more = { timeout: 0.5, delay: 3600, tags: { 'ü ': '"' }, env: { A: 'b\n' } };
    expect(await call({ ...given, ...more })).toBe('j-1');
    expect(await store.get('j-1')).toMatchObject({
      ...{
        command: 'echo ä',
        queue: 'mail',
        name: 'n',
        cwd: '/tmp',
        priority: -5,
        maxRetries: 1,
        timeoutMs: 500,
      },
      ...{ tags: { 'ü ': '"' }, env: { A: 'b\n' }, delayed: true },
    });
    expect(await store.counts()).toEqual(
      expect.arrayContaining(['default', 'mail'].map((queue) => ({ queue, state: 'pending', jobs: 1 }))),
    );
    const [me] = await query('SELECT session_user AS name');
    expect((await store.events(0, 10)).slice(-2)).toMatchObject([
      { kind: 'enqueued', jobId: plain, actor: me!.name },
      { kind: 'enqueued', jobId: 'j-1', actor: me!.name },
    ]);
    expect(await store.totals()).toMatchObject([{ enqueued: 1 }, { enqueued: 1, name: 'n' }]);
    expect((await postgresCare.check(url)).problems).toEqual([]);
    const claimed = await claimOne(store, 'w1', Date.now() + 60_000);
    expect(claimed.id).toBe(plain);
    expect(await store.settle(ending(claimed, succeeded))).toBe('applied');
  }));

test('the SQL function works in the transaction of the caller, and does not change its search path', () =>
  withFunction(async (call, store, query) => {
    const path = async () => (await query('SHOW search_path'))[0]!.search_path;
    const before = await path();
    for (const end of ['ROLLBACK', 'COMMIT']) {
      await query('BEGIN');
      await call({ command: 'true', id: 'job' });
      expect(await path()).toBe(before!);
      expect(await store.get('job')).toBe(null);
      await query(end);
    }
    expect(await store.get('job')).toMatchObject({ id: 'job' });
  }));

test('the SQL function refuses fields and values that it does not support', () =>
  withFunction(async (call, store) => {
    const refusals: [unknown, RegExp][] = [
      ['[]', /must be a JSON object/],
      [{}, /"command" is missing or empty/],
      [{ command: ' \n' }, /"command" is missing or empty/],
      [{ command: 'x'.repeat(131_072) }, /"command" is longer than 131071 bytes/],
      [{ command: 'true', unique_key: 'k' }, /does not support the field "unique_key"/],
      [{ command: 'true', priority: 'high' }, /"priority" must be of the type number, not string/],
      [{ command: 'true', priority: 1.5 }, /"priority" is out of range/],
      [{ command: 'true', max_retries: 1001 }, /"max_retries" is out of range/],
      [{ command: 'true', timeout: 0 }, /"timeout" is out of range/],
      [{ command: 'true', delay: -1 }, /"delay" is out of range/],
      [{ command: 'true', queue: 'a,b' }, /"queue" must have 1 to 128 letters/],
      [{ command: 'true', id: '@last' }, /"id" must have 1 to 128 letters/],
      [{ command: 'true', name: '' }, /"name" must have 1 to 128 letters/],
      [{ command: 'true', cwd: 'here' }, /"cwd" must be an absolute path/],
      [{ command: 'true', env: { A: 1 } }, /values in "env" must be strings/],
      [{ command: 'true', env: { 'A B': '' } }, /a name in "env" is not allowed/],
      [{ command: 'true', env: { QUEUECTL_JOB: '' } }, /a name in "env" is not allowed/],
      [{ command: 'true', tags: [] }, /"tags" must be of the type object, not array/],
      [{ command: 'a\0b' }, /cannot be converted to text|unsupported Unicode/],
    ];
    for (const [job, message] of refusals) await expect(call(job)).rejects.toThrow(message);
    await call({ command: 'true', id: 'one', queue: null });
    await expect(call({ command: 'true', id: 'one' })).rejects.toThrow(
      /a job with the id "one" already exists/,
    );
    expect(await store.counts()).toEqual([{ queue: 'default', state: 'pending', jobs: 1 }]);
  }));
