import { expect, test } from 'bun:test';
import type { Api } from './calls.ts';
import { addJobs, expectOk, expectRefused, pathOfJob, TOMORROW, untilJob } from './calls.ts';

/** Any visible text can be an id. In a path, it is escaped. */
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

export function testJobs(api: () => Api): void {
  test('posting an object returns an object, and posting an array returns an array in the same order', async () => {
    const { site } = api();
    const one = await addJobs(site, { id: 'one', command: 'true', ...TOMORROW });
    expect(one).toMatchObject({ id: 'one', command: 'true', state: 'pending', queue: 'default' });
    const many = await addJobs(
      site,
      ['c', 'a', 'b'].map((id) => ({ id: `many-${id}`, argv: ['echo', id], ...TOMORROW })),
    );
    expect(many.map((job: { id: string }) => job.id)).toEqual(['many-c', 'many-a', 'many-b']);
    expect(await addJobs(site, [{ command: 'true', ...TOMORROW }])).toHaveLength(1);
  });

  test('fields are stored as given, and a returned job can be sent again', async () => {
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
    const job = await addJobs(site, fields);
    expect(job).toMatchObject({ ...fields, run_at: '2099-01-31T09:00:00.000Z' });
    expect(await expectOk(site, 'GET', pathOfJob('whole'))).toEqual(job);
    const { id: _, unique_key: __, ...rest } = job;
    const again = await addJobs(site, rest);
    expect({ ...again, id: '', created_at: '', updated_at: '' }).toEqual({
      ...{ ...rest, id: '', unique_key: null, created_at: '', updated_at: '' },
    });
    expect(await addJobs(site, { ...fields, id: 'other' })).toMatchObject({ id: 'whole', existing: true });
    const taken = { body: { ...fields, unique_key: null } };
    await expectRefused(site, ['POST', '/api/v1/jobs'], taken, [409, 'job-exists']);
  });

  test('an array is added completely or not at all', async () => {
    const { site } = api();
    const jobs = [
      { id: 'half-1', command: 'true' },
      { id: 'half-2', command: '' },
    ];
    await expectRefused(site, ['POST', '/api/v1/jobs'], { body: jobs }, [400, 'invalid-job']);
    await expectRefused(site, ['GET', '/api/v1/jobs/half-1'], {}, [404, 'job-not-found']);
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
    const countBefore = (await expectOk(site, 'GET', '/api/v1/jobs')).count.value;
    for (const [body, code] of rows) {
      const { status, json } = await site.call('POST', '/api/v1/jobs', { body });
      expect({ body, status: status === 404 ? 400 : status, code: json.code }).toEqual({
        body,
        status: 400,
        code,
      });
    }
    expect((await expectOk(site, 'GET', '/api/v1/jobs')).count.value).toBe(countBefore);
  });

  test('the same Idempotency-Key adds a job once, and is refused with a different body', async () => {
    const { site } = api();
    const headers = { 'idempotency-key': 'order 42' };
    const body = { command: 'echo once', queue: 'idem', ...TOMORROW };
    const jobsPath = '/api/v1/jobs';
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        site.call('POST', jobsPath, { body: { ...body, delay: '1d' }, headers }),
      ),
    );
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.id}`)).size).toBe(1);
    expect(answers.filter(({ json }) => json.existing === true)).toHaveLength(7);
    const array = await site.call('POST', jobsPath, { body: [body], headers });
    expect(array.json[0].id).toBe(answers[0]!.json.id);
    await expectRefused(site, ['POST', jobsPath], { body: { ...body, priority: 1 }, headers }, [
      409,
      'key-reused',
    ]);
    await expectRefused(site, ['POST', jobsPath], { body: [body, body], headers }, [409, 'key-reused']);
    for (const key of ['', 'x'.repeat(256)])
      await expectRefused(site, ['POST', jobsPath], { body, headers: { 'idempotency-key': key } }, [
        400,
        'invalid-job',
      ]);
    expect((await expectOk(site, 'GET', `${jobsPath}?queue=idem`)).count).toEqual({
      value: 1,
      capped: false,
    });
  });

  test('the retry delays of a job can be read, and a job with one attempt has none', async () => {
    const { site } = api();
    const own = { backoff: 'linear', retry_delay: '10s', backoff_max: '25s', jitter: 0.5, max_retries: 4 };
    await addJobs(site, { id: 'waits-long', command: 'true', ...own, ...TOMORROW });
    expect(await expectOk(site, 'GET', '/api/v1/jobs/waits-long/retries')).toEqual({
      delays_ms: [10_000, 20_000, 25_000],
      jitter: 0.5,
    });
    await addJobs(site, { id: 'waits-not', command: 'true', max_retries: 1, ...TOMORROW });
    expect((await expectOk(site, 'GET', '/api/v1/jobs/waits-not/retries')).delays_ms).toEqual([]);
  });

  for (const id of ODD_IDS) {
    test(`a job with the id ${id} can be read, edited, cancelled and deleted`, async () => {
      const { site } = api();
      await addJobs(site, { id, command: 'true', queue: 'odd', ...TOMORROW });
      expect((await expectOk(site, 'GET', pathOfJob(id))).id).toBe(id);
      expect(await expectOk(site, 'GET', `${pathOfJob(id)}/attempts`)).toEqual([]);
      expect((await expectOk(site, 'GET', `${pathOfJob(id)}/explain`)).id).toBe(id);
      expect((await expectOk(site, 'GET', `${pathOfJob(id)}/children`)).total).toBe(0);
      expect((await expectOk(site, 'PATCH', pathOfJob(id), { name: 'found' })).name).toBe('found');
      expect((await expectOk(site, 'POST', `${pathOfJob(id)}/cancel`)).state).toBe('cancelled');
      expect(
        (await expectOk(site, 'GET', `/api/v1/activity?job=${encodeURIComponent(id)}`)).events,
      ).toHaveLength(3);
      expect(await expectOk(site, 'DELETE', pathOfJob(id))).toEqual({ id, also_cancelled: [] });
      await expectRefused(site, ['GET', pathOfJob(id)], {}, [404, 'job-not-found']);
    });
  }

  test('cancel and DELETE list the dependent jobs that were cancelled, or will be when the job has stopped', async () => {
    const { site } = api();
    const child = (parent: string) => ({ id: `${parent}-child`, command: 'true', depends_on: [parent] });
    for (const id of ['also-1', 'also-2', 'also-3'])
      await addJobs(site, [{ id, command: 'sleep 600', ...(id === 'also-3' ? {} : TOMORROW) }, child(id)]);
    const cancelled = await expectOk(site, 'POST', `${pathOfJob('also-1')}/cancel`);
    expect(cancelled).toMatchObject({ state: 'cancelled', also_cancelled: ['also-1-child'] });
    expect(await expectOk(site, 'DELETE', pathOfJob('also-2'))).toEqual({
      ...{ id: 'also-2', also_cancelled: ['also-2-child'] },
    });
    await untilJob(site, 'also-3', 'processing');
    expect(await expectOk(site, 'POST', `${pathOfJob('also-3')}/cancel`)).toMatchObject({
      also_cancelled: ['also-3-child'],
    });
    await untilJob(site, 'also-3-child', 'cancelled');
    // The answer can be enqueued again, as every job of the API.
    await addJobs(site, { ...cancelled, id: 'also-again' });
  });

  test('PATCH changes the editable fields of a waiting job and refuses the others', async () => {
    const { site } = api();
    await addJobs(site, { id: 'patched', command: 'true', ...TOMORROW });
    const changes = {
      ...{ command: 'echo new', queue: 'patched', priority: -3, run_at: '2098-01-01T00:00:00.000Z' },
      ...{ timeout_ms: 1234, max_retries: 9, tags: { k: 'v' }, name: 'n' },
    };
    expect(await expectOk(site, 'PATCH', pathOfJob('patched'), changes)).toMatchObject(changes);
    const patchRequest: [string, string] = ['PATCH', pathOfJob('patched')];
    for (const body of [{}, { id: 'x' }, { cwd: '/' }, { nonsense: 1 }, []])
      await expectRefused(site, patchRequest, { body }, [400, 'invalid-job']);
    const typo = await expectRefused(site, patchRequest, { body: { priorty: 1 } }, [400, 'invalid-job']);
    expect(typo.json.detail).toBe("unknown field 'priorty'; did you mean 'priority'?");
    expect(await expectOk(site, 'GET', pathOfJob('patched'))).toMatchObject(changes);
    await expectOk(site, 'POST', `${pathOfJob('patched')}/cancel`);
    await expectRefused(site, patchRequest, { body: { priority: 1 } }, [409, 'wrong-state']);
  });

  test('release, retry and cancel are refused in a wrong state, and all actions are refused on a deleted job', async () => {
    const { site } = api();
    const path = pathOfJob('moved');
    await addJobs(site, { id: 'moved', command: 'true', ...TOMORROW });
    await expectRefused(site, ['POST', `${path}/release`], {}, [409, 'wrong-state']);
    await expectOk(site, 'POST', `${path}/hold`);
    expect((await expectOk(site, 'GET', `${path}/explain`)).reasons[0]).toContain('held');
    await expectOk(site, 'POST', `${path}/release`);
    await expectRefused(site, ['POST', `${path}/retry`], {}, [409, 'wrong-state']);
    expect((await expectOk(site, 'POST', `${path}/cancel`)).state).toBe('cancelled');
    await expectRefused(site, ['POST', `${path}/cancel`], {}, [409, 'wrong-state']);
    await expectOk(site, 'POST', `${path}/retry`);
    expect(await untilJob(site, 'moved', 'completed')).toMatchObject({ attempts: 1, exit_code: 0 });
    const [attempt] = await expectOk(site, 'GET', `${path}/attempts`);
    expect(attempt).toMatchObject({ attempt: 1, outcome: 'exited', exit_code: 0 });
    await expectOk(site, 'DELETE', path);
    for (const verb of ['cancel', 'retry', 'hold', 'release'])
      await expectRefused(site, ['POST', `${path}/${verb}`], {}, [404, 'job-not-found']);
    await expectRefused(site, ['DELETE', path], {}, [404, 'job-not-found']);
    await expectRefused(site, ['POST', `${pathOfJob('one')}/hold`], { body: {} }, [400, 'invalid-request']);
  });
}
