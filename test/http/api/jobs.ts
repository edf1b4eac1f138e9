import { expect, test } from 'bun:test';
import type { Api } from './topic.ts';
import { add, later, ok, pathOf, refused, untilJob } from './topic.ts';

/** Unusual ids. Any visible text can be an id, and it is part of a path in its escaped form. */
const ODD_IDS = [
  'a/b',
  'a%2Fb',
  '100%',
  'two words',
  '🦊',
  'a/../b',
  '..hidden',
  'a?b=c#d',
  "it's",
  'ünï',
  '+',
  'a&b',
];

export function jobs(api: () => Api): void {
  test('posting an object returns an object, and posting an array returns an array in the same order', async () => {
    const { site } = api();
    const one = await add(site, { id: 'one', command: 'true', ...later });
    expect(one).toMatchObject({ id: 'one', command: 'true', state: 'pending', queue: 'default' });
    const many = await add(
      site,
      ['c', 'a', 'b'].map((id) => ({ id: `many-${id}`, argv: ['echo', id], ...later })),
    );
    expect(many.map((job: { id: string }) => job.id)).toEqual(['many-c', 'many-a', 'many-b']);
    expect(await add(site, [{ command: 'true', ...later }])).toHaveLength(1);
  });

  test('every field is accepted, and a returned job can be sent again', async () => {
    const { site } = api();
    const fields = {
      ...{ id: 'whole', command: 'cat', queue: 'whole', priority: 7, max_retries: 1, timeout_ms: 5000 },
      ...{ run_at: '2099-01-31T09:00:00Z', backoff_base: 3, name: 'kind', tags: { a: '<b>' }, stdin: 'in' },
      ...{
        env: { A: '1' },
        secret_env: ['B'],
        split_output: true,
        at_most_once: true,
        unique_key: 'u-whole',
      },
      ...{ depends_on: ['one', { id: 'many-a', on: 'any' }], on_parent_failure: 'hold', jitter: 0.5 },
      ...{ retry_on: [1, 75], no_retry_on: null, backoff: 'exponential', on_dead: 'echo dead', cwd: '/' },
    };
    const job = await add(site, fields);
    expect(job).toMatchObject({ ...fields, run_at: '2099-01-31T09:00:00.000Z' });
    expect(await ok(site, 'GET', pathOf('whole'))).toEqual(job);
    const { id: _, unique_key: __, ...rest } = job;
    const again = await add(site, rest);
    expect({ ...again, id: '', created_at: '', updated_at: '' }).toEqual({
      ...{ ...rest, id: '', unique_key: null, created_at: '', updated_at: '' },
    });
    expect(await add(site, { ...fields, id: 'other' })).toMatchObject({ id: 'whole', existing: true });
    const taken = { body: { ...fields, unique_key: null } };
    await refused(site, ['POST', '/api/v1/jobs'], taken, [409, 'job-exists']);
  });

  test('an array is added completely or not at all', async () => {
    const { site } = api();
    const jobs = [
      { id: 'half-1', command: 'true' },
      { id: 'half-2', command: '' },
    ];
    await refused(site, ['POST', '/api/v1/jobs'], { body: jobs }, [400, 'invalid-job']);
    await refused(site, ['GET', '/api/v1/jobs/half-1'], {}, [404, 'job-not-found']);
  });

  test('invalid jobs are refused', async () => {
    const { site } = api();
    const rows: [unknown, string][] = [
      [{}, 'invalid-job'],
      [{ command: 5 }, 'invalid-job'],
      [{ command: 'true', nonsense: 1 }, 'invalid-job'],
      [{ command: 'true', __proto_: 1 }, 'invalid-job'],
      [{ command: 'a\0b' }, 'invalid-job'],
      [{ command: 'true', priority: 1e99 }, 'invalid-value'],
      [{ command: 'true', run_at: 'yesterdayish' }, 'invalid-time'],
      [{ command: 'true', id: '\u202e' }, 'invalid-job'],
      [{ command: 'true', depends_on: ['nobody'] }, 'job-not-found'],
      [[], 'invalid-request'],
      [[[{ command: 'true' }]], 'invalid-job'],
      [Array.from({ length: 1001 }, () => ({ command: 'true' })), 'invalid-request'],
      ['null', 'invalid-job'],
      ['5', 'invalid-job'],
      ['"text"', 'invalid-job'],
    ];
    const before = (await ok(site, 'GET', '/api/v1/jobs')).count.value;
    for (const [body, code] of rows) {
      const { status, json } = await site.call('POST', '/api/v1/jobs', { body });
      expect({ body, status: status === 404 ? 400 : status, code: json.code }).toEqual({
        body,
        status: 400,
        code,
      });
    }
    expect((await ok(site, 'GET', '/api/v1/jobs')).count.value).toBe(before);
  });

  test('the same Idempotency-Key adds a job once, and is refused with a different body', async () => {
    const { site } = api();
    const headers = { 'idempotency-key': 'order 42' };
    const body = { command: 'echo once', queue: 'idem', ...later };
    const at = '/api/v1/jobs';
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => site.call('POST', at, { body: { ...body, delay: '1d' }, headers })),
    );
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.id}`)).size).toBe(1);
    expect(answers.filter(({ json }) => json.existing === true)).toHaveLength(7);
    const array = await site.call('POST', at, { body: [body], headers });
    expect(array.json[0].id).toBe(answers[0]!.json.id);
    await refused(site, ['POST', at], { body: { ...body, priority: 1 }, headers }, [409, 'key-reused']);
    await refused(site, ['POST', at], { body: [body, body], headers }, [409, 'key-reused']);
    for (const key of ['', 'x'.repeat(256)])
      await refused(site, ['POST', at], { body, headers: { 'idempotency-key': key } }, [400, 'invalid-job']);
    expect((await ok(site, 'GET', `${at}?queue=idem`)).count).toEqual({ value: 1, capped: false });
  });

  test('the retry delays of a job can be read, and a job with one attempt has none', async () => {
    const { site } = api();
    const own = { backoff: 'linear', retry_delay: '10s', backoff_max: '25s', jitter: 0.5, max_retries: 4 };
    await add(site, { id: 'waits-long', command: 'true', ...own, ...later });
    expect(await ok(site, 'GET', '/api/v1/jobs/waits-long/retries')).toEqual({
      delays_ms: [10_000, 20_000, 25_000],
      jitter: 0.5,
    });
    await add(site, { id: 'waits-not', command: 'true', max_retries: 1, ...later });
    expect((await ok(site, 'GET', '/api/v1/jobs/waits-not/retries')).delays_ms).toEqual([]);
  });

  for (const id of ODD_IDS) {
    test(`a job with the id ${id} can be read, edited, cancelled and deleted`, async () => {
      const { site } = api();
      await add(site, { id, command: 'true', queue: 'odd', ...later });
      expect((await ok(site, 'GET', pathOf(id))).id).toBe(id);
      expect(await ok(site, 'GET', `${pathOf(id)}/attempts`)).toEqual([]);
      expect((await ok(site, 'GET', `${pathOf(id)}/explain`)).id).toBe(id);
      expect((await ok(site, 'GET', `${pathOf(id)}/children`)).total).toBe(0);
      expect((await ok(site, 'PATCH', pathOf(id), { name: 'found' })).name).toBe('found');
      expect((await ok(site, 'POST', `${pathOf(id)}/cancel`)).state).toBe('cancelled');
      expect((await ok(site, 'GET', `/api/v1/activity?job=${encodeURIComponent(id)}`)).events).toHaveLength(
        3,
      );
      expect((await site.call('DELETE', pathOf(id))).status).toBe(204);
      await refused(site, ['GET', pathOf(id)], {}, [404, 'job-not-found']);
    });
  }

  test('PATCH changes the editable fields of a waiting job and refuses the others', async () => {
    const { site } = api();
    await add(site, { id: 'patched', command: 'true', ...later });
    const changes = {
      ...{ command: 'echo new', queue: 'patched', priority: -3, run_at: '2098-01-01T00:00:00.000Z' },
      ...{ timeout_ms: 1234, max_retries: 9, tags: { k: 'v' }, name: 'n' },
    };
    expect(await ok(site, 'PATCH', pathOf('patched'), changes)).toMatchObject(changes);
    const at: [string, string] = ['PATCH', pathOf('patched')];
    for (const body of [{}, { id: 'x' }, { cwd: '/' }, { nonsense: 1 }, []])
      await refused(site, at, { body }, [400, 'invalid-job']);
    const typo = await refused(site, at, { body: { priorty: 1 } }, [400, 'invalid-job']);
    expect(typo.json.detail).toBe("unknown field 'priorty'; did you mean 'priority'?");
    expect(await ok(site, 'GET', pathOf('patched'))).toMatchObject(changes);
    await ok(site, 'POST', `${pathOf('patched')}/cancel`);
    await refused(site, at, { body: { priority: 1 } }, [409, 'wrong-state']);
  });

  test('hold, release, cancel, retry and delete work from their valid states only', async () => {
    const { site } = api();
    const at = pathOf('moved');
    await add(site, { id: 'moved', command: 'true', ...later });
    await refused(site, ['POST', `${at}/release`], {}, [409, 'wrong-state']);
    await ok(site, 'POST', `${at}/hold`);
    expect((await ok(site, 'GET', `${at}/explain`)).reasons[0]).toContain('held');
    await ok(site, 'POST', `${at}/release`);
    await refused(site, ['POST', `${at}/retry`], {}, [409, 'wrong-state']);
    expect((await ok(site, 'POST', `${at}/cancel`)).state).toBe('cancelled');
    await refused(site, ['POST', `${at}/cancel`], {}, [409, 'wrong-state']);
    await ok(site, 'POST', `${at}/retry`);
    expect(await untilJob(site, 'moved', 'completed')).toMatchObject({ attempts: 1, exit_code: 0 });
    const [attempt] = await ok(site, 'GET', `${at}/attempts`);
    expect(attempt).toMatchObject({ attempt: 1, outcome: 'exited', exit_code: 0 });
    expect((await site.call('DELETE', at)).status).toBe(204);
    for (const verb of ['cancel', 'retry', 'hold', 'release'])
      await refused(site, ['POST', `${at}/${verb}`], {}, [404, 'job-not-found']);
    await refused(site, ['DELETE', at], {}, [404, 'job-not-found']);
    await refused(site, ['POST', `${pathOf('one')}/hold`], { body: {} }, [400, 'invalid-request']);
  });
}
