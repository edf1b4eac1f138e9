import { expect, test } from 'bun:test';
import type { Site } from '../../support/http.ts';
import { until } from '../../support/queuectl.ts';
import { type Api, addJobs, expectOk, expectRefused, pathOfJob, TOMORROW, untilJob } from './calls.ts';

const OPERATIONS_PATH = '/api/v1/operations';

/** Runs an operation to its end and returns it. */
async function operate(site: Site, body: object) {
  const started = await expectOk(site, 'POST', OPERATIONS_PATH, body, 202);
  return until(async () => {
    const operation = await expectOk(site, 'GET', `${OPERATIONS_PATH}/${started.id}`);
    return operation.state === 'running' ? false : operation;
  }, 'the operation has ended');
}

const manyJobs = (queue: string, jobs: number, more: object = TOMORROW): object[] =>
  Array.from({ length: jobs }, (_, i) => ({ id: `${queue}-${i}`, command: 'true', queue, ...more }));

export function testOperations(api: () => Api): void {
  test('limit caps the number of jobs of an operation, and per_second its speed', async () => {
    const { site } = api();
    await addJobs(site, manyJobs('few', 12));
    const filter = { queue: 'few' };
    const held = await operate(site, { action: 'hold', filter, limit: 5 });
    expect(held).toMatchObject({ state: 'done', total: 5, changed: 5 });
    const slow = await operate(site, { action: 'cancel', filter, per_second: 10 });
    expect(slow).toMatchObject({ state: 'done', total: 12, changed: 12 });
    expect(Date.parse(slow.finished_at) - Date.parse(slow.started_at)).toBeGreaterThanOrEqual(1000);
    for (const wrong of [
      { limit: 0 },
      { limit: 1.5 },
      { per_second: -1 },
      { per_second: 'fast' },
      { limit: '1' },
      { limit: [1] },
    ])
      await expectRefused(site, ['POST', OPERATIONS_PATH], { body: { action: 'hold', filter, ...wrong } }, [
        400,
        'invalid-value',
      ]);
  });

  test('an operation acts on all matching jobs and no others', async () => {
    const { site } = api();
    await addJobs(site, manyJobs('ops', 900));
    await addJobs(site, manyJobs('ops-not', 3));
    const filter = { queue: 'ops', state: ['pending'] };
    // The jobs are counted in pages, because the count of one answer stops after a few milliseconds.
    const count = async (query: string): Promise<number> => {
      let found = 0;
      for (let cursor = ''; ; ) {
        const page = await expectOk(site, 'GET', `/api/v1/jobs?${query}&limit=1000${cursor}`);
        found += page.jobs.length;
        if (page.next_cursor === null) return found;
        cursor = `&cursor=${page.next_cursor}`;
      }
    };
    expect(await operate(site, { action: 'edit', filter, changes: { priority: 5 } })).toMatchObject({
      ...{ state: 'done', total: 900, done: 900, changed: 900, unchanged: 0, error: null },
    });
    expect(await count('queue=ops&where=priority%3D5')).toBe(900);
    expect(await operate(site, { action: 'hold', filter })).toMatchObject({ changed: 900 });
    expect(await operate(site, { action: 'hold', filter })).toMatchObject({ changed: 0, unchanged: 900 });
    expect(await operate(site, { action: 'release', filter })).toMatchObject({ changed: 900 });
    expect(await operate(site, { action: 'cancel', filter })).toMatchObject({ changed: 900 });
    expect(await count('queue=ops&state=cancelled')).toBe(900);
    expect(await operate(site, { action: 'cancel', filter })).toMatchObject({ total: 0, state: 'done' });
    const cancelled = { queue: 'ops', state: 'cancelled', where: 'priority=5' };
    expect(await operate(site, { action: 'delete', filter: cancelled })).toMatchObject({ changed: 900 });
    expect(await count('queue=ops')).toBe(0);
    expect(await count('queue=ops-not&state=pending')).toBe(3);
  });

  test('ids must be complete, and ids without a job count as unchanged', async () => {
    const { site } = api();
    await addJobs(site, manyJobs('opid', 3));
    const ids = ['opid-0', 'opid-0', 'opid-', 'nobody', '@last'];
    expect(await operate(site, { action: 'cancel', ids })).toMatchObject({
      ...{ total: 4, done: 4, changed: 1, unchanged: 3 },
    });
    expect((await expectOk(site, 'GET', pathOfJob('opid-1'))).state).toBe('pending');
    expect(await operate(site, { action: 'retry', ids: ['opid-0', 'opid-1'] })).toMatchObject({
      ...{ changed: 1, unchanged: 1 },
    });
  });

  test('a bulk retry skips and counts at-most-once jobs that were started, but a retry of one job does not', async () => {
    const { site } = api();
    const more = { max_retries: 1, at_most_once: true };
    await addJobs(site, manyJobs('oponce', 3, { ...more, command: 'exit 9' }));
    await addJobs(site, manyJobs('opplain', 2, { max_retries: 1, command: 'exit 9' }));
    for (const id of ['oponce-0', 'oponce-1', 'oponce-2', 'opplain-0', 'opplain-1'])
      await untilJob(site, id, 'dead');
    const filter = { state: 'dead', 'exit-code': '9' };
    expect(await operate(site, { action: 'retry', filter })).toMatchObject({
      ...{ total: 5, done: 5, changed: 2, unchanged: 3, skipped: 3 },
    });
    const ids = ['oponce-0', 'oponce-1', 'oponce-2'];
    expect(await operate(site, { action: 'retry', ids })).toMatchObject({ changed: 0, skipped: 3 });
    const { groups } = await expectOk(site, 'GET', '/api/v1/dlq/groups');
    const { signature: group } = groups.find((one: { sample_error: string }) => /9/.test(one.sample_error));
    expect(await operate(site, { action: 'retry', group, limit: 1 })).toMatchObject({ total: 1 });
    for (const id of ids) expect((await expectOk(site, 'GET', pathOfJob(id))).attempts).toBe(1);
    expect(await expectOk(site, 'GET', `${pathOfJob(ids[0]!)}/attempts`)).toHaveLength(1);

    await expectOk(site, 'POST', `${pathOfJob(ids[0]!)}/retry`);
    await until(
      async () => (await expectOk(site, 'GET', `${pathOfJob(ids[0]!)}/attempts`)).length === 2,
      'the job ran again',
    );
    const changes = { max_retries: 2 };
    await addJobs(site, manyJobs('opedit', 1, { ...TOMORROW, ...more }));
    await expectRefused(site, ['PATCH', pathOfJob('opedit-0')], { body: changes }, [400, 'invalid-job']);
    await expectRefused(
      site,
      ['POST', '/api/v1/jobs'],
      { body: { command: 'true', at_most_once: true, max_retries: 2 } },
      [400, 'invalid-job'],
    );
    expect(await operate(site, { action: 'edit', ids: ['opedit-0'], changes })).toMatchObject({
      ...{ state: 'done', changed: 0, unchanged: 1 },
    });
  });

  test('an operation counts the dependent jobs that it cancels once each, also those of a running job', async () => {
    const { site } = api();
    const family = (parent: string, more: object = TOMORROW): object[] => [
      { id: parent, command: 'sleep 600', ...more },
      { id: `${parent}-child`, command: 'true', depends_on: [parent] },
      { id: `${parent}-grandchild`, command: 'true', depends_on: [`${parent}-child`] },
    ];
    await addJobs(site, family('oprun', {}));
    await untilJob(site, 'oprun', 'processing');
    expect(await operate(site, { action: 'cancel', ids: ['oprun'] })).toMatchObject({
      ...{ changed: 1, unchanged: 0, also_cancelled: 2 },
    });
    for (const id of ['oprun', 'oprun-child', 'oprun-grandchild']) await untilJob(site, id, 'cancelled');
    // Each batch has one job. The first one cancels the second job with its parent.
    for (const [action, parent] of [
      ['cancel', 'opone'],
      ['delete', 'optwo'],
    ] as const) {
      await addJobs(site, family(parent));
      const body = { action, ids: [parent, `${parent}-child`] };
      expect(await expectOk(site, 'POST', OPERATIONS_PATH, { ...body, dry_run: true })).toEqual({
        ...{ total: 2, also_cancelled: 1, capped: false },
      });
      expect(await operate(site, { ...body, per_second: 1 })).toMatchObject({
        ...{ changed: 2, unchanged: 0, also_cancelled: 1 },
      });
      await untilJob(site, `${parent}-grandchild`, 'cancelled');
    }
  });

  test('a dry run counts the jobs of an operation and changes nothing', async () => {
    const { site } = api();
    await addJobs(site, manyJobs('opdry', 4));
    await addJobs(site, { id: 'opdry-child', command: 'true', depends_on: ['opdry-0', 'opdry-1'] });
    const preview = (body: object) =>
      expectOk(site, 'POST', OPERATIONS_PATH, { filter: { queue: 'opdry' }, ...body, dry_run: true });
    for (const action of ['cancel', 'delete'])
      expect(await preview({ action })).toEqual({ total: 4, also_cancelled: 1, capped: false });
    expect(await preview({ action: 'hold' })).toEqual({ total: 4, also_cancelled: 0, capped: false });
    expect(await preview({ action: 'cancel', limit: 2 })).toEqual({
      ...{ total: 2, also_cancelled: 0, capped: false },
    });
    const { jobs } = await expectOk(site, 'GET', '/api/v1/jobs?queue=opdry&state=pending');
    expect(jobs).toHaveLength(4);
    await expectRefused(
      site,
      ['POST', OPERATIONS_PATH],
      { body: { action: 'hold', ids: [], dry_run: 'yes' } },
      [400, 'invalid-value'],
    );
  });

  test('an operation can be stopped, and its changes stay', async () => {
    const { site } = api();
    for (let i = 0; i < 8; i++)
      await addJobs(site, manyJobs(`opstop${i}`, 1000, { ...TOMORROW, name: 'opstop' }));
    const { id } = await expectOk(
      site,
      'POST',
      OPERATIONS_PATH,
      { action: 'cancel', filter: { name: 'opstop' } },
      202,
    );
    await expectOk(site, 'DELETE', `${OPERATIONS_PATH}/${id}`);
    const ended = await until(async () => {
      const operation = await expectOk(site, 'GET', `${OPERATIONS_PATH}/${id}`);
      return operation.state === 'running' ? false : operation;
    }, 'it has stopped');
    expect(ended.state).toBe('stopped');
    expect(ended.done).toBeLessThan(8000);
    const { count } = await expectOk(site, 'GET', '/api/v1/jobs?name=opstop&state=cancelled&limit=1');
    expect(count.value).toBe(ended.changed);
    expect((await expectOk(site, 'DELETE', `${OPERATIONS_PATH}/${id}`)).state).toBe('stopped');
    expect((await expectOk(site, 'GET', OPERATIONS_PATH))[0].id).toBe(id);
  });

  test('other requests are answered while an operation runs', async () => {
    const { site } = api();
    const filter = { name: 'opstop', state: 'pending' };
    const { id } = await expectOk(
      site,
      'POST',
      OPERATIONS_PATH,
      { action: 'edit', filter, changes: { priority: 2 } },
      202,
    );
    let served = 0;
    while ((await expectOk(site, 'GET', `${OPERATIONS_PATH}/${id}`)).state === 'running') served++;
    expect(served).toBeGreaterThan(2);
  });

  test('invalid operations are refused', async () => {
    const { site } = api();
    const filter = { queue: 'ops-not' };
    const rows: [object | string, number, string][] = [
      [{}, 400, 'invalid-request'],
      [{ action: 'cancel' }, 400, 'invalid-request'],
      [{ action: 'cancel', ids: [], filter }, 400, 'invalid-request'],
      [{ action: 'explode', filter }, 400, 'invalid-request'],
      [{ action: 'constructor', filter }, 400, 'invalid-request'],
      [{ action: 'cancel', ids: 'all' }, 400, 'invalid-request'],
      [{ action: 'cancel', ids: [5] }, 400, 'invalid-request'],
      [{ action: 'cancel', filter: { nonsense: 1 } }, 400, 'invalid-request'],
      [{ action: 'cancel', filter: [] }, 400, 'invalid-request'],
      [{ action: 'cancel', filter: { state: 'nonsense' } }, 400, 'invalid-value'],
      // A filter that is empty or invalid must not select every job.
      ...[
        {},
        { queue: [] },
        { queue: null },
        { state: [] },
        { state: null },
        { tag: [] },
        { queue: true },
      ].map((odd): [object, number, string] => [{ action: 'delete', filter: odd }, 400, 'invalid-request']),
      ...[{ queue: {} }, { queue: ['a', 'b'] }, { queue: ['ops-not'] }, { name: 5 }, { state: [[]] }].map(
        (odd): [object, number, string] => [{ action: 'delete', filter: odd }, 400, 'invalid-request'],
      ),
      ...['', ' '].flatMap((odd) =>
        ['queue', 'state', 'tag', 'search', 'error', 'where', 'name'].map(
          (field): [object, number, string] => [
            { action: 'delete', filter: { [field]: odd } },
            400,
            'invalid-value',
          ],
        ),
      ),
      [{ action: 'edit', filter }, 400, 'invalid-job'],
      [{ action: 'hold', filter, changes: { priority: 1 } }, 400, 'invalid-request'],
      [{ action: 'edit', filter, changes: { id: 'x' } }, 400, 'invalid-job'],
    ];
    for (const [body, status, code] of rows)
      await expectRefused(site, ['POST', OPERATIONS_PATH], { body }, [status, code]);
    for (const method of ['GET', 'DELETE'])
      await expectRefused(site, [method, `${OPERATIONS_PATH}/nobody`], {}, [404, 'operation-not-found']);
    expect((await expectOk(site, 'GET', '/api/v1/jobs?queue=ops-not&state=pending')).count.value).toBe(3);
  });
}
