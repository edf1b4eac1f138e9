import { expect, test } from 'bun:test';
import { until } from '../../support/queuectl.ts';
import { type Api, addJobs, expectOk, expectRefused, pathOfJob, untilJob } from './calls.ts';

export function testQueues(api: () => Api): void {
  test('a queue is paused, limited and resumed', async () => {
    const { site } = api();
    const queuePath = '/api/v1/queues/with%20space%2Fand%20slash';
    await expectRefused(site, ['GET', queuePath], {}, [404, 'queue-not-found']);
    const limits = { paused: true, concurrency: 2, rate: '10/s' };
    const set = await expectOk(site, 'PATCH', queuePath, limits);
    expect(set).toMatchObject({
      ...{
        name: 'with space/and slash',
        paused: true,
        concurrency: 2,
        rate: '10/s',
      },
    });
    expect(set.paused_by).toStartWith('http:');
    await addJobs(site, { id: 'q-waits', command: 'true', queue: 'with space/and slash' });
    expect((await expectOk(site, 'GET', `${pathOfJob('q-waits')}/explain`)).reasons.join()).toContain(
      'paused',
    );
    const waiting = await expectOk(site, 'GET', '/api/v1/waiting');
    expect(waiting.find((one: { queue: string }) => one.queue === 'with space/and slash')).toMatchObject({
      ...{ jobs: { queue_paused: 1, ready: 0, held: 0 } },
    });
    const noLimits = { paused: false, concurrency: null, rate: null };
    expect(await expectOk(site, 'PATCH', queuePath, noLimits)).toMatchObject({
      ...{ paused: false, paused_by: null, concurrency: null, rate: null },
    });
    await untilJob(site, 'q-waits', 'completed');
    const all = await expectOk(site, 'GET', '/api/v1/queues');
    expect(all.find((queue: { name: string }) => queue.name === 'with space/and slash')).toMatchObject({
      ...{ jobs: { completed: 1 }, oldest_waiting_at: null },
    });
    expect((await expectOk(site, 'GET', queuePath)).paused).toBe(false);
  });

  test('a queue that does not exist is not paused or resumed, but it gets limits', async () => {
    const { site } = api();
    const path = '/api/v1/queues/defualt';
    for (const paused of [true, false]) {
      const answer = await expectRefused(site, ['PATCH', path], { body: { paused } }, [
        404,
        'queue-not-found',
      ]);
      expect(answer.json.detail).toBe("there is no queue 'defualt'; did you mean 'default'?");
    }
    const { json } = await expectRefused(site, ['GET', path], {}, [404, 'queue-not-found']);
    expect(json.detail).toContain("did you mean 'default'?");
    const path2 = '/api/v1/queues/new-limits';
    expect(await expectOk(site, 'PATCH', path2, { rate: '1/s' })).toMatchObject({
      rate: '1/s',
      paused: false,
    });
  });

  test('invalid settings of a queue are refused', async () => {
    const { site } = api();
    const patchQueue: [string, string] = ['PATCH', '/api/v1/queues/refused'];
    for (const body of [{}, { nonsense: 1 }, { paused: 'yes' }, { paused: null }, []])
      await expectRefused(site, patchQueue, { body }, [400, 'invalid-request']);
    for (const body of [{ concurrency: 0 }, { concurrency: 1.5 }, { concurrency: {} }, { rate: 'fast' }])
      await expectRefused(site, patchQueue, { body }, [400, 'invalid-value']);
    await expectRefused(site, ['PATCH', '/api/v1/queues/a%2Cb'], { body: { paused: true } }, [
      400,
      'invalid-job',
    ]);
    await expectRefused(site, ['GET', patchQueue[1]], {}, [404, 'queue-not-found']);
  });
}

export function testSchedules(api: () => Api): void {
  test('a schedule is added, paused, edited, run and removed', async () => {
    const { site } = api();
    const job = { command: 'echo tick', queue: 'ticks', tags: { a: 'b' } };
    const given = { name: 'nightly/1', cron: '30 2 * * *', timezone: 'UTC', overlap: 'queue', job };
    const added = await expectOk(site, 'POST', '/api/v1/schedules', given, 201);
    expect(added).toMatchObject({ name: 'nightly/1', cron: '30 2 * * *', overlap: 'queue', paused: false });
    expect(added.next_runs).toHaveLength(5);
    const schedulePath = '/api/v1/schedules/nightly%2F1';
    expect(await expectOk(site, 'GET', schedulePath)).toEqual(added);
    await expectRefused(site, ['POST', '/api/v1/schedules'], { body: given }, [409, 'schedule-exists']);
    expect(await expectOk(site, 'PATCH', schedulePath, { paused: true })).toMatchObject({
      paused: true,
      next_runs: [],
    });
    expect(await expectOk(site, 'PATCH', schedulePath, { paused: false })).toMatchObject({
      paused: false,
      paused_by: null,
    });
    const edited = await expectOk(site, 'PATCH', schedulePath, {
      cron: '0 4 * * 1',
      job: { command: 'echo tock', priority: 3 },
    });
    expect(edited).toMatchObject({
      ...{
        cron: '0 4 * * 1',
        timezone: 'UTC',
        text: 'at 04:00, only on Monday',
        overlap: 'queue',
        queue: 'ticks',
      },
      ...{ command: 'echo tock', job: { priority: 3, tags: { a: 'b' } } },
    });
    await expectRefused(site, ['PATCH', schedulePath], { body: { cron: 'never' } }, [400, 'invalid-cron']);
    await expectRefused(site, ['PATCH', schedulePath], { body: { every: '1h', cron: '@daily' } }, [
      400,
      'usage',
    ]);
    await expectRefused(site, ['PATCH', schedulePath], { body: { paused: true, cron: '@daily' } }, [
      400,
      'invalid-request',
    ]);
    await expectRefused(site, ['PATCH', schedulePath], { body: {} }, [400, 'usage']);
    expect(await expectOk(site, 'GET', schedulePath)).toEqual(edited);
    const run = await expectOk(site, 'POST', `${schedulePath}/run`, undefined, 201);
    expect(run).toMatchObject({ command: 'echo tock', queue: 'ticks', name: 'nightly/1', tags: { a: 'b' } });
    await untilJob(site, run.id, 'completed');
    await expectOk(site, 'POST', '/api/v1/schedules', { name: 'often', every: '1h', job }, 201);
    const all = await expectOk(site, 'GET', '/api/v1/schedules');
    expect(all.map((one: { name: string }) => one.name)).toEqual(['nightly/1', 'often']);
    for (const path of [schedulePath, '/api/v1/schedules/often'])
      expect((await site.call('DELETE', path)).status).toBe(204);
    await expectRefused(site, ['DELETE', schedulePath], {}, [404, 'schedule-not-found']);
    await expectRefused(site, ['GET', schedulePath], {}, [404, 'schedule-not-found']);
    await expectRefused(site, ['POST', `${schedulePath}/run`], {}, [404, 'schedule-not-found']);
    await expectRefused(site, ['PATCH', schedulePath], { body: { paused: true } }, [
      404,
      'schedule-not-found',
    ]);
  });

  test('the next runs of a schedule are shown before it is added', async () => {
    const { site } = api();
    const times = await expectOk(site, 'GET', '/api/v1/times?cron=30+2+*+*+*&timezone=europe/berlin');
    expect(times).toMatchObject({ timezone: 'Europe/Berlin', text: 'every day at 02:30' });
    expect(times.next_runs).toHaveLength(5);
    expect(await expectOk(site, 'GET', '/api/v1/times?every=90s')).toMatchObject({ every_ms: 90_000 });
    await expectRefused(site, ['GET', '/api/v1/times'], {}, [400, 'usage']);
    await expectRefused(site, ['GET', '/api/v1/times?cron=61+*+*+*+*'], {}, [400, 'invalid-cron']);
    await expectRefused(site, ['GET', '/api/v1/times?cron=@daily&timezone=Mars'], {}, [400, 'invalid-value']);
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
    expect(await expectOk(site, 'GET', '/api/v1/schedules')).toEqual([]);
  });
}

export function testSettings(api: () => Api): void {
  test('settings are listed, read, set and unset', async () => {
    const { site, box } = api();
    const all = await expectOk(site, 'GET', '/api/v1/config');
    expect(all).toEqual(await box.json(['config', 'list']));
    const settingPath = '/api/v1/config/max-retries';
    expect(await expectOk(site, 'PUT', settingPath, { value: '7' })).toMatchObject({
      value: 7,
      is_default: false,
    });
    expect(await expectOk(site, 'GET', '/api/v1/config/maxRetries')).toMatchObject({
      key: 'max-retries',
      text: '7',
    });
    expect(await expectOk(site, 'DELETE', settingPath)).toMatchObject({ is_default: true });
    for (const body of [{ value: 7 }, {}, { value: '7', more: 1 }])
      await expectRefused(site, ['PUT', settingPath], { body }, [400, 'invalid-request']);
    await expectRefused(site, ['PUT', settingPath], { body: { value: '-1' } }, [400, 'invalid-value']);
    await expectRefused(site, ['GET', '/api/v1/config/max-retry'], {}, [400, 'unknown-setting']);
    expect(await expectOk(site, 'GET', '/api/v1/config')).toEqual(all);
  });
}

export function testWorkersAndCounts(api: () => Api): void {
  test('workers can be read, and the counts of jobs equal those of the command line', async () => {
    const { site, box } = api();
    const workers = await expectOk(site, 'GET', '/api/v1/workers');
    expect(workers).toHaveLength(1);
    expect(workers[0]).toMatchObject({ queues: ['*'], concurrency: 4, same_executable: true });
    expect(await expectOk(site, 'GET', `/api/v1/workers/${workers[0].id}`)).toMatchObject({
      id: workers[0].id,
    });
    await expectRefused(site, ['GET', '/api/v1/workers/none'], {}, [404, 'worker-not-found']);
    await until(async () => {
      const printed = await box.json<{ jobs: object }>(['stats']);
      const shown = await expectOk(site, 'GET', '/api/v1/stats');
      return JSON.stringify(printed.jobs) === JSON.stringify(shown.jobs);
    }, 'both show the same figures');
  });
}

export function testStopping(api: () => Api): void {
  test('one worker is stopped, and the others continue', async () => {
    const { site, box } = api();
    const workers = async (): Promise<{ id: string; concurrency: number }[]> =>
      expectOk(site, 'GET', '/api/v1/workers');
    const started = await box.startWorkers('--concurrency', '7');
    const { id } = (await workers()).find(({ concurrency }) => concurrency === 7)!;
    const stopRequest: [string, string] = ['POST', `/api/v1/workers/${id}/stop`];
    await expectRefused(site, stopRequest, { body: { order: 'now' } }, [400, 'invalid-request']);
    await expectRefused(site, ['POST', '/api/v1/workers/none/stop'], { body: { order: 'drain' } }, [
      404,
      'worker-not-found',
    ]);
    await expectOk(site, ...stopRequest, { order: 'drain' }, 202);
    expect(await started.exit).toBe(0);
    expect((await workers()).map(({ concurrency }) => concurrency)).toEqual([4]);
  });
}

export function testFiguresAndChecks(api: () => Api): void {
  test('series, metrics and doctor can be read', async () => {
    const { site } = api();
    await addJobs(site, { id: 'figure', command: 'true', queue: 'figures', name: 'counted' });
    await untilJob(site, 'figure', 'completed');
    const series = await expectOk(site, 'GET', '/api/v1/stats/series?range=1h&queue=figures&names=true');
    expect(series).toMatchObject({ range: '1h', total: { enqueued: 1, completed: 1 } });
    expect(series.points).toHaveLength(60);
    expect(series.names).toMatchObject([{ queue: 'figures', name: 'counted', completed: 1 }]);
    await expectRefused(site, ['GET', '/api/v1/stats/series?range=1y'], {}, [400, 'invalid-value']);
    await expectRefused(site, ['GET', '/api/v1/stats/series?names=yes'], {}, [400, 'invalid-value']);
    const metrics = await site.call('GET', '/metrics');
    expect(metrics.headers.get('content-type')).toBe(
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    );
    expect(metrics.text).toContain(
      'queuectl_jobs_total{queue="figures",name="counted",outcome="completed"} 1',
    );
    expect(metrics.text).toEndWith('# EOF\n');
    const doctor = await expectOk(site, 'GET', '/api/v1/doctor');
    const checks = doctor.checks.map((one: { check: string }) => one.check);
    // The name of the check that reads the whole store depends on the store.
    const isQuick = (check: string): boolean => !['quick check', 'contents'].includes(check);
    expect(checks.filter(isQuick)).toHaveLength(checks.length - 1);
    const quick = await expectOk(site, 'GET', '/api/v1/doctor?quick=true');
    expect(quick.checks.map((one: { check: string }) => one.check)).toEqual(checks.filter(isQuick));
    await expectRefused(site, ['GET', '/api/v1/doctor?quick=1'], {}, [400, 'invalid-value']);
  });

  test('dead jobs are grouped by their error and deleted by group', async () => {
    const { site } = api();
    for (const id of ['g1', 'g2'])
      await addJobs(site, {
        id,
        command: `echo "no file /tmp/${id}" >&2; exit 3`,
        max_retries: 1,
        queue: 'groups',
      });
    for (const id of ['g1', 'g2']) await untilJob(site, id, 'dead');
    const { groups } = await expectOk(site, 'GET', '/api/v1/dlq/groups');
    const group = groups.find((one: { queues: string[] }) => one.queues.includes('groups'));
    expect(group).toMatchObject({ jobs: 2, last_hour: 2, last_3_hours: 2, last_3_days: 2 });
    expect(await expectOk(site, 'GET', '/api/v1/server')).toMatchObject({ read_only: false });
    const body = { action: 'delete', group: group.signature };
    const { id } = await expectOk(site, 'POST', '/api/v1/operations', body, 202);
    await until(
      async () => (await expectOk(site, 'GET', `/api/v1/operations/${id}`)).state === 'done',
      'the group is gone',
    );
    expect(await expectOk(site, 'GET', `/api/v1/operations/${id}`)).toMatchObject({ changed: 2 });
  });

  test('a session can be started and ended', async () => {
    const { site } = api();
    const { session } = await expectOk(site, 'POST', '/api/v1/session', undefined, 201);
    expect((await site.call('DELETE', '/api/v1/session', { token: session })).status).toBe(204);
  });
}
