import { expect, test } from 'bun:test';
import { until } from '../../support/queuectl.ts';
import { type Api, add, ok, pathOf, refused, untilJob } from './topic.ts';

export function queues(api: () => Api): void {
  test('a queue is paused, limited and resumed', async () => {
    const { site } = api();
    const at = '/api/v1/queues/with%20space%2Fand%20slash';
    await refused(site, ['GET', at], {}, [404, 'queue-not-found']);
    const limits = { paused: true, concurrency: 2, rate: '10/s', priority_aging: '1m' };
    const set = await ok(site, 'PATCH', at, limits);
    expect(set).toMatchObject({
      ...{
        name: 'with space/and slash',
        paused: true,
        concurrency: 2,
        rate: '10/s',
        priority_aging_ms: 60_000,
      },
    });
    expect(set.paused_by).toStartWith('http:');
    await add(site, { id: 'q-waits', command: 'true', queue: 'with space/and slash' });
    expect((await ok(site, 'GET', `${pathOf('q-waits')}/explain`)).reasons.join()).toContain('paused');
    const waiting = await ok(site, 'GET', '/api/v1/waiting');
    expect(waiting.find((one: { queue: string }) => one.queue === 'with space/and slash')).toMatchObject({
      ...{ jobs: { queue_paused: 1, ready: 0, held: 0 } },
    });
    const free = { paused: false, concurrency: null, rate: null, priority_aging: null };
    expect(await ok(site, 'PATCH', at, free)).toMatchObject({
      ...{ paused: false, paused_by: null, concurrency: null, rate: null, priority_aging_ms: null },
    });
    await untilJob(site, 'q-waits', 'completed');
    const all = await ok(site, 'GET', '/api/v1/queues');
    expect(all.find((queue: { name: string }) => queue.name === 'with space/and slash')).toMatchObject({
      ...{ jobs: { completed: 1 }, oldest_waiting_at: null },
    });
    expect((await ok(site, 'GET', at)).paused).toBe(false);
  });

  test('invalid settings of a queue are refused', async () => {
    const { site } = api();
    const at: [string, string] = ['PATCH', '/api/v1/queues/refused'];
    for (const body of [{}, { nonsense: 1 }, { paused: 'yes' }, { paused: null }, []])
      await refused(site, at, { body }, [400, 'invalid-request']);
    for (const body of [{ concurrency: 0 }, { concurrency: 1.5 }, { concurrency: {} }, { rate: 'fast' }])
      await refused(site, at, { body }, [400, 'invalid-value']);
    await refused(site, ['PATCH', '/api/v1/queues/a%2Cb'], { body: { paused: true } }, [400, 'invalid-job']);
    await refused(site, ['GET', at[1]], {}, [404, 'queue-not-found']);
  });
}

export function schedules(api: () => Api): void {
  test('a schedule is added, paused, run and removed', async () => {
    const { site } = api();
    const job = { command: 'echo tick', queue: 'ticks', tags: { a: 'b' } };
    const given = { name: 'nightly/1', cron: '30 2 * * *', timezone: 'UTC', overlap: 'queue', job };
    const added = await ok(site, 'POST', '/api/v1/schedules', given, 201);
    expect(added).toMatchObject({ name: 'nightly/1', cron: '30 2 * * *', overlap: 'queue', paused: false });
    expect(added.next_runs).toHaveLength(5);
    const at = '/api/v1/schedules/nightly%2F1';
    expect(await ok(site, 'GET', at)).toEqual(added);
    await refused(site, ['POST', '/api/v1/schedules'], { body: given }, [409, 'schedule-exists']);
    expect(await ok(site, 'PATCH', at, { paused: true })).toMatchObject({ paused: true, next_runs: [] });
    expect(await ok(site, 'PATCH', at, { paused: false })).toMatchObject({ paused: false, paused_by: null });
    const edited = await ok(site, 'PATCH', at, {
      cron: '0 4 * * 1',
      job: { command: 'echo tock', priority: 3 },
    });
    expect(edited).toMatchObject({
      ...{
        cron: '0 4 * * 1',
        timezone: 'UTC',
        text: 'at 04:00, on Monday',
        overlap: 'queue',
        queue: 'ticks',
      },
      ...{ command: 'echo tock', job: { priority: 3, tags: { a: 'b' } } },
    });
    await refused(site, ['PATCH', at], { body: { cron: 'never' } }, [400, 'invalid-cron']);
    await refused(site, ['PATCH', at], { body: { every: '1h', cron: '@daily' } }, [400, 'usage']);
    await refused(site, ['PATCH', at], { body: { paused: true, cron: '@daily' } }, [400, 'invalid-request']);
    await refused(site, ['PATCH', at], { body: {} }, [400, 'usage']);
    expect(await ok(site, 'GET', at)).toEqual(edited);
    const run = await ok(site, 'POST', `${at}/run`, undefined, 201);
    expect(run).toMatchObject({ command: 'echo tock', queue: 'ticks', name: 'nightly/1', tags: { a: 'b' } });
    await untilJob(site, run.id, 'completed');
    await ok(site, 'POST', '/api/v1/schedules', { name: 'often', every: '1h', job }, 201);
    const all = await ok(site, 'GET', '/api/v1/schedules');
    expect(all.map((one: { name: string }) => one.name)).toEqual(['nightly/1', 'often']);
    for (const path of [at, '/api/v1/schedules/often'])
      expect((await site.call('DELETE', path)).status).toBe(204);
    await refused(site, ['DELETE', at], {}, [404, 'schedule-not-found']);
    await refused(site, ['GET', at], {}, [404, 'schedule-not-found']);
    await refused(site, ['POST', `${at}/run`], {}, [404, 'schedule-not-found']);
    await refused(site, ['PATCH', at], { body: { paused: true } }, [404, 'schedule-not-found']);
  });

  test('the next runs of a schedule are shown before it is added', async () => {
    const { site } = api();
    const times = await ok(site, 'GET', '/api/v1/times?cron=30+2+*+*+*&timezone=europe/berlin');
    expect(times).toMatchObject({ timezone: 'Europe/Berlin', text: 'every day at 02:30' });
    expect(times.next_runs).toHaveLength(5);
    expect(times.clock_change.says).toContain('clocks in Europe/Berlin change from');
    expect(await ok(site, 'GET', '/api/v1/times?every=90s')).toMatchObject({
      every_ms: 90_000,
      clock_change: null,
    });
    await refused(site, ['GET', '/api/v1/times'], {}, [400, 'usage']);
    await refused(site, ['GET', '/api/v1/times?cron=61+*+*+*+*'], {}, [400, 'invalid-cron']);
    await refused(site, ['GET', '/api/v1/times?cron=@daily&timezone=Mars'], {}, [400, 'invalid-value']);
  });

  test('invalid schedules are refused', async () => {
    const { site } = api();
    const job = { command: 'true' };
    const rows: [object, string][] = [
      [{ name: 'x', job }, 'usage'],
      [{ name: 'x', cron: '* * * * *', every: '1h', job }, 'usage'],
      [{ name: 'x', cron: 'never', job }, 'invalid-cron'],
      [{ name: 'x', cron: '0 0 1-100000000 * *', job }, 'invalid-cron'],
      [{ name: 'x', cron: '* * * * *', timezone: 'Mars', job }, 'invalid-value'],
      [{ name: 'x', every: '1h', overlap: 'maybe', job }, 'invalid-value'],
      [{ name: 'x', every: '1h', job: { ...job, id: 'mine' } }, 'invalid-job'],
      [{ name: 'x', every: '1h', job: { ...job, nonsense: 1 } }, 'invalid-job'],
      [{ name: 'x', every: '1h' }, 'invalid-job'],
      [{ name: 'x', every: '1h', job: {} }, 'invalid-job'],
      [{ name: 'x', every: '1h', job: { queue: 'q' } }, 'invalid-job'],
      [{ name: 5, every: '1h', job }, 'invalid-request'],
      [{ name: 'x', every: '1h', job, nonsense: 1 }, 'invalid-request'],
    ];
    for (const [body, code] of rows) {
      const { status, json } = await site.call('POST', '/api/v1/schedules', { body });
      expect({ body, status, code: json.code }).toEqual({ body, status: 400, code });
    }
    expect(await ok(site, 'GET', '/api/v1/schedules')).toEqual([]);
  });
}

export function settings(api: () => Api): void {
  test('settings are listed, read, set and unset', async () => {
    const { site, box } = api();
    const all = await ok(site, 'GET', '/api/v1/config');
    expect(all).toEqual(await box.json(['config', 'list']));
    const at = '/api/v1/config/max-retries';
    expect(await ok(site, 'PUT', at, { value: '7' })).toMatchObject({ value: 7, is_default: false });
    expect(await ok(site, 'GET', '/api/v1/config/maxRetries')).toMatchObject({
      key: 'max-retries',
      text: '7',
    });
    expect(await ok(site, 'DELETE', at)).toMatchObject({ is_default: true });
    for (const body of [{ value: 7 }, {}, { value: '7', more: 1 }])
      await refused(site, ['PUT', at], { body }, [400, 'invalid-request']);
    await refused(site, ['PUT', at], { body: { value: '-1' } }, [400, 'invalid-value']);
    await refused(site, ['GET', '/api/v1/config/max-retry'], {}, [400, 'unknown-setting']);
    expect(await ok(site, 'GET', '/api/v1/config')).toEqual(all);
  });
}

export function figures(api: () => Api): void {
  test('workers can be read, and the counts of jobs equal those of the command line', async () => {
    const { site, box } = api();
    const workers = await ok(site, 'GET', '/api/v1/workers');
    expect(workers).toHaveLength(1);
    expect(workers[0]).toMatchObject({ queues: ['*'], concurrency: 4, same_executable: true });
    expect(await ok(site, 'GET', `/api/v1/workers/${workers[0].id}`)).toMatchObject({ id: workers[0].id });
    await refused(site, ['GET', '/api/v1/workers/none'], {}, [404, 'worker-not-found']);
    await until(async () => {
      const printed = await box.json<{ jobs: object }>(['stats']);
      const shown = await ok(site, 'GET', '/api/v1/stats');
      return JSON.stringify(printed.jobs) === JSON.stringify(shown.jobs);
    }, 'both show the same figures');
  });
}

export function stopping(api: () => Api): void {
  test('one worker is stopped, and the others continue', async () => {
    const { site, box } = api();
    const workers = async (): Promise<{ id: string; concurrency: number }[]> =>
      ok(site, 'GET', '/api/v1/workers');
    const started = await box.startWorkers('--concurrency', '7');
    const { id } = (await workers()).find(({ concurrency }) => concurrency === 7)!;
    const at: [string, string] = ['POST', `/api/v1/workers/${id}/stop`];
    await refused(site, at, { body: { order: 'now' } }, [400, 'invalid-request']);
    await refused(site, ['POST', '/api/v1/workers/none/stop'], { body: { order: 'drain' } }, [
      404,
      'worker-not-found',
    ]);
    await ok(site, ...at, { order: 'drain' }, 202);
    expect(await started.exit).toBe(0);
    expect((await workers()).map(({ concurrency }) => concurrency)).toEqual([4]);
  });
}

export function figuresAndChecks(api: () => Api): void {
  test('series, metrics and doctor can be read', async () => {
    const { site } = api();
    await add(site, { id: 'figure', command: 'true', queue: 'figures', name: 'counted' });
    await untilJob(site, 'figure', 'completed');
    const series = await ok(site, 'GET', '/api/v1/stats/series?range=1h&queue=figures&names=true');
    expect(series).toMatchObject({ range: '1h', total: { enqueued: 1, completed: 1 } });
    expect(series.points).toHaveLength(60);
    expect(series.names).toMatchObject([{ queue: 'figures', name: 'counted', completed: 1 }]);
    await refused(site, ['GET', '/api/v1/stats/series?range=1y'], {}, [400, 'invalid-value']);
    await refused(site, ['GET', '/api/v1/stats/series?names=yes'], {}, [400, 'invalid-value']);
    const metrics = await site.call('GET', '/metrics');
    expect(metrics.headers.get('content-type')).toBe(
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    );
    expect(metrics.text).toContain(
      'queuectl_jobs_total{queue="figures",name="counted",outcome="completed"} 1',
    );
    expect(metrics.text).toEndWith('# EOF\n');
    const doctor = await ok(site, 'GET', '/api/v1/doctor');
    const checks = doctor.checks.map((one: { check: string }) => one.check);
    expect(checks).toContain('quick check');
    const quick = await ok(site, 'GET', '/api/v1/doctor?quick=true');
    expect(quick.checks.map((one: { check: string }) => one.check)).toEqual(
      checks.filter((check: string) => check !== 'quick check'),
    );
    await refused(site, ['GET', '/api/v1/doctor?quick=1'], {}, [400, 'invalid-value']);
  });

  test('dead jobs are grouped by their error, and the server reports its mode', async () => {
    const { site } = api();
    for (const id of ['g1', 'g2'])
      await add(site, {
        id,
        command: `echo "no file /tmp/${id}" >&2; exit 3`,
        max_retries: 1,
        queue: 'groups',
      });
    for (const id of ['g1', 'g2']) await untilJob(site, id, 'dead');
    const { groups } = await ok(site, 'GET', '/api/v1/dlq/groups');
    const group = groups.find((one: { queues: string[] }) => one.queues.includes('groups'));
    expect(group).toMatchObject({ jobs: 2, last_hour: 2, last_3_hours: 2, last_3_days: 2 });
    expect(await ok(site, 'GET', '/api/v1/server')).toMatchObject({ read_only: false });
    const { session } = await ok(site, 'POST', '/api/v1/session', undefined, 201);
    expect((await site.call('DELETE', '/api/v1/session', { token: session })).status).toBe(204);
    const body = { action: 'delete', group: group.signature };
    const { id } = await ok(site, 'POST', '/api/v1/operations', body, 202);
    await until(
      async () => (await ok(site, 'GET', `/api/v1/operations/${id}`)).state === 'done',
      'the group is gone',
    );
    expect(await ok(site, 'GET', `/api/v1/operations/${id}`)).toMatchObject({ changed: 2 });
  });
}
