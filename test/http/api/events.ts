import { expect, test as plainTest } from 'bun:test';
import { type Stream, serve } from '../../support/http.ts';
import { until } from '../../support/queuectl.ts';
import { sandboxTest as test } from '../../support/sandbox-test.ts';
import { type Api, addJobs, expectOk, expectRefused, pathOfJob, TOMORROW, untilJob } from './calls.ts';

const eventNumbers = (stream: Stream): number[] => stream.seen.map((one) => one.id);
const consecutive = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

export function testEvents(api: () => Api): void {
  plainTest('every client sees each event after the requested one, once and in order', async () => {
    const { site } = api();
    const start = (await expectOk(site, 'GET', '/api/v1/activity?limit=1')).events[0].number;
    const clients = await Promise.all([site.events(), site.events(), site.events(start), site.events(0)]);
    for (let i = 0; i < 5; i++) await addJobs(site, { id: `e-${i}`, command: 'true' });
    for (let i = 0; i < 5; i++) await untilJob(site, `e-${i}`, 'completed');
    const last = (await expectOk(site, 'GET', '/api/v1/activity?limit=1')).events[0].number;
    for (const [i, client] of clients.entries()) {
      await until(() => (client.seen.at(-1)?.id ?? 0) >= last, 'it has seen the last one');
      const from = [start + 1, start + 1, start + 1, 1][i]!;
      // A stream without a start may begin with events from just before it was opened.
      const streamed = eventNumbers(client).filter((id) => id >= from && id <= last);
      expect(streamed).toEqual(consecutive(from, last));
      expect(client.seen.every(({ id, data }) => data.number === id)).toBe(true);
      client.close();
    }
    const own = clients[0]!.seen.filter(({ data }) => data.job_id === 'e-0');
    expect(own.map(({ event }) => event)).toEqual(['enqueued', 'started', 'completed']);
    expect(own[0]!.data.actor).toBe('http:127.0.0.1');
  });

  plainTest('a client that reconnects continues after its last event, however many it missed', async () => {
    const { site } = api();
    const lastNumber = async (): Promise<number> =>
      (await expectOk(site, 'GET', '/api/v1/activity?limit=1')).events[0].number;
    const from = await lastNumber();
    const ids = Array.from({ length: 1000 }, (_, i) => `missed-${i}`);
    await addJobs(
      site,
      ids.map((id) => ({ id, command: 'true', queue: 'missed', ...TOMORROW })),
    );
    // These actions cause more events than the server keeps in memory.
    const actions = [...Array.from({ length: 5 }, () => ['hold', 'release']).flat(), 'cancel', 'delete'];
    for (const action of actions) {
      const { id } = await expectOk(site, 'POST', '/api/v1/operations', { action, ids }, 202);
      await until(
        async () => (await expectOk(site, 'GET', `/api/v1/operations/${id}`)).state === 'done',
        action,
      );
    }
    const to = await lastNumber();
    expect(to - from).toBeGreaterThan(10_000);
    const seen: number[] = [];
    // The client reconnects after every few hundred events.
    while ((seen.at(-1) ?? from) < to) {
      const client = await site.events(seen.at(-1) ?? from);
      const seenBefore = seen.length;
      await until(() => client.seen.length > 700 || (client.seen.at(-1)?.id ?? 0) >= to, 'events arrive');
      client.close();
      seen.push(...eventNumbers(client).filter((id) => id <= to));
      expect(seen.length).toBeGreaterThan(seenBefore);
    }
    expect(seen).toEqual(consecutive(from + 1, to));
    const whole = await site.events(from);
    await until(() => (whole.seen.at(-1)?.id ?? 0) >= to, 'all events have arrived');
    expect(eventNumbers(whole).filter((id) => id <= to)).toEqual(consecutive(from + 1, to));
    whole.close();
  });

  test('the event stream of a restarted server continues where that of the previous one ended', async (box) => {
    const first = await serve(box);
    const before = await first.events();
    await addJobs(first, { id: 'before', command: 'true', ...TOMORROW });
    await until(() => before.seen.length > 0, 'it was seen');
    process.kill(first.server.pid, 'SIGKILL');
    await until(() => before.isOver, 'the stream has ended');
    await box.run(['enqueue', '--id', 'between', '--delay', '1d', 'true']);
    const second = await serve(box);
    const after = await second.events(before.seen.at(-1)!.id);
    await addJobs(second, { id: 'after', command: 'true', ...TOMORROW });
    await until(() => after.seen.length >= 2, 'both were seen');
    expect(after.seen.map(({ data }) => data.job_id)).toEqual(['between', 'after']);
    // An event number above those of the store is from another store, so the stream starts with the next event.
    const foreign = await second.events(1_000_000);
    await addJobs(second, { id: 'at last', command: 'true', ...TOMORROW });
    await until(() => foreign.seen.length > 0, 'it was seen');
    expect(foreign.seen[0]!.data.job_id).toBe('at last');
  });

  plainTest('an invalid event number is refused', async () => {
    const { site } = api();
    for (const query of ['after=x', 'after=-1', 'after=1e3'])
      await expectRefused(site, ['GET', `/api/v1/events?${query}`], {}, [400, 'invalid-value']);
  });

  plainTest('HEAD requests and closed streams do not count as open streams', async () => {
    const { site } = api();
    for (let i = 0; i < 300; i++) expect((await site.call('HEAD', '/api/v1/events')).status).toBe(200);
    for (let i = 0; i < 300; i++) {
      const client = await until(() => site.events().catch(() => false as const), 'there is room');
      client.close();
    }
  });

  plainTest(
    'the activity is read in pages, newest first, and can be filtered by job, queue, kind and actor',
    async () => {
      const { site } = api();
      const all: number[] = [];
      let before = '';
      for (;;) {
        const page = await expectOk(site, 'GET', `/api/v1/activity?limit=1000${before}`);
        all.push(...page.events.map((one: { number: number }) => one.number));
        if (page.next_before === null) break;
        before = `&before=${page.next_before}`;
      }
      expect(all.toReversed()).toEqual(consecutive(1, all[0]!));
      const activity = async (query: string) =>
        (await expectOk(site, 'GET', `/api/v1/activity?${query}`)).events;
      expect((await activity('job=e-1')).map((one: { kind: string }) => one.kind)).toEqual([
        'completed',
        'started',
        'enqueued',
      ]);
      expect(await activity('job=e-1&kind=completed,started&limit=1')).toHaveLength(1);
      expect((await activity('queue=missed&limit=1'))[0].kind).toBe('deleted');
      expect(await activity('job=nobody')).toEqual([]);
      const actorsOf = async (actor: string) =>
        new Set(
          (await activity(`limit=1000&actor=${actor}`)).map(
            (one: { actor: string }) => one.actor.split(':')[0],
          ),
        );
      expect(await actorsOf('http:')).toEqual(new Set(['http']));
      expect(await actorsOf('nobody')).toEqual(new Set());
      for (const query of ['kind=nonsense', 'limit=0', 'before=x'])
        await expectRefused(site, ['GET', `/api/v1/activity?${query}`], {}, [400, 'invalid-value']);
    },
  );

  plainTest('every kind of change is in the activity with its actor', async () => {
    const { site } = api();
    const start = (await expectOk(site, 'GET', '/api/v1/activity?limit=1')).events[0].number;
    const jobPath = pathOfJob('acted');
    const rows: [method: string, path: string, body: unknown, kind: string][] = [
      ['POST', '/api/v1/jobs', { id: 'acted', command: 'true', queue: 'acted', ...TOMORROW }, 'enqueued'],
      ['PATCH', jobPath, { priority: 1 }, 'edited'],
      ['POST', `${jobPath}/hold`, undefined, 'held'],
      ['POST', `${jobPath}/release`, undefined, 'released'],
      ['POST', `${jobPath}/cancel`, undefined, 'cancelled'],
      ['PATCH', '/api/v1/queues/acted', { paused: true }, 'queue-paused'],
      ['POST', `${jobPath}/retry`, undefined, 'retried'],
      ['POST', '/api/v1/operations', { action: 'hold', ids: ['acted'] }, 'held'],
      ['DELETE', jobPath, undefined, 'deleted'],
      ['PATCH', '/api/v1/queues/acted', { rate: '5/m' }, 'queue-set'],
      ['PATCH', '/api/v1/queues/acted', { paused: false }, 'queue-resumed'],
      ['PUT', '/api/v1/config/max-retries', { value: '4' }, 'setting-set'],
      ['DELETE', '/api/v1/config/max-retries', undefined, 'setting-unset'],
      [
        'POST',
        '/api/v1/schedules',
        { name: 'acted', every: '1h', job: { command: 'true', queue: 'acted' } },
        'schedule-added',
      ],
      ['PATCH', '/api/v1/schedules/acted', { paused: true }, 'schedule-paused'],
      ['PATCH', '/api/v1/schedules/acted', { paused: false }, 'schedule-resumed'],
      ['POST', '/api/v1/schedules/acted/run', undefined, 'tick'],
      ['DELETE', '/api/v1/schedules/acted', undefined, 'schedule-removed'],
    ];
    for (const [method, path, body, kind] of rows) {
      const answer = await site.call(method, path, body === undefined ? {} : { body });
      expect({ path, good: answer.status < 300 }).toEqual({ path, good: true });
      await until(async () => {
        const { events } = await expectOk(site, 'GET', `/api/v1/activity?kind=${kind}&limit=1`);
        return events[0]?.number > start && events[0].actor === 'http:127.0.0.1';
      }, `the event ${kind} arrives`);
    }
  });
}
