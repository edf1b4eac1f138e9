import { expect, test } from 'bun:test';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { sendChange, sendWake } from '../../src/store/postgres/sql/wakeups.ts';
import { Calls, describeWakeups, untilQuiet } from '../conformance/wakeups.ts';
import { makeTempSchema, onServer } from '../support/postgres.ts';
import { until } from '../support/queuectl.ts';
import { makeTempDir } from '../support/temp-dir.ts';

async function openTwice(change: (url: URL) => void = () => {}) {
  const home = makeTempDir();
  const schema = await makeTempSchema();
  const url = new URL(schema.url);
  change(url);
  const open = () => openPostgres(url.href, {}, { QUEUECTL_HOME: home.path });
  const cleanup = async (): Promise<void> => {
    await schema.drop();
    home.remove();
  };
  return { one: await open(), two: await open(), cleanup, url: schema.url, schema: schema.name };
}

type OpenedTwice = Awaited<ReturnType<typeof openTwice>>;

async function withTwo(
  run: (opened: OpenedTwice) => Promise<void>,
  change?: (url: URL) => void,
): Promise<void> {
  const opened = await openTwice(change);
  try {
    await run(opened);
  } finally {
    await opened.one.store.close();
    await opened.two.store.close();
    await opened.cleanup();
  }
}

describeWakeups('postgres', { open: openTwice });

describeWakeups('postgres with a pooler and a direct connection', {
  open: () =>
    openTwice((url) => {
      const direct = url.href;
      url.searchParams.set('prepared', 'off');
      url.searchParams.set('listen', direct);
    }),
});

test('a pooler without a direct connection receives no signals, so that its callers poll', () =>
  withTwo(
    async ({ one }) => {
      expect(one.wakeups.onWake(() => {})).toBeNull();
      expect(one.wakeups.onChange(() => {})).toBeNull();
    },
    (url) => url.searchParams.set('prepared', 'off'),
  ));

/** Runs the statements in turn on six connections for a second. Returns how many notifications arrived in a second. */
async function flood(url: string, texts: string[]): Promise<number> {
  let sent = 0;
  let arrived = 0;
  const start = performance.now();
  await onServer(url, async (listener) => {
    listener.on('notification', () => {
      arrived++;
    });
    await listener.query('LISTEN flood');
    const send = () =>
      onServer(url, async (client) => {
        while (performance.now() < start + 1000) await client.query(texts[sent++ % texts.length]!, ['flood']);
      });
    await Promise.all(Array.from({ length: 6 }, send));
    // Notifications are delivered before the answer to a later statement.
    await listener.query('SELECT 1');
  });
  expect(sent).toBeGreaterThan(arrived);
  return (arrived * 1000) / (performance.now() - start);
}

test('a flood of signals becomes at most 50 notifications a second', () =>
  withTwo(async ({ url, schema }) => {
    const texts = [sendWake(`"${schema}"`), sendChange(`"${schema}"`)];
    const rate = await flood(url, texts);
    expect(rate).toBeGreaterThan(1);
    expect(rate).toBeLessThanOrEqual(50);
    // The control has no throttle.
    expect(await flood(url, ['SELECT pg_notify($1, NULL)', 'SELECT 1, $1::text'])).toBeGreaterThan(50);
  }));

test('signals are sent again after a crash of the server has emptied their table', () =>
  withTwo(async ({ one, two, url, schema }) => {
    const calls = new Calls();
    const end = two.wakeups.onWake(calls.add);
    await calls.happen();
    await onServer(url, (client) => client.query(`TRUNCATE ${schema}.signal`));
    for (const _ of ['the row is created', 'the row is changed']) {
      await untilQuiet(calls);
      one.wakeups.wake();
      await calls.happen();
    }
    end!();
  }));

test('a receiver whose connection was ended is called, connects again and receives signals', () =>
  withTwo(async ({ one, two, url }) => {
    const calls = new Calls();
    const end = two.wakeups.onWake(calls.add);
    const listeners = `SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN "queuectl_%'`;
    const pids = async () =>
      (await onServer(url, (client) => client.query(listeners))).rows.map(({ pid }) => pid as number);
    const [first] = await until(async () => (await pids()).length > 0 && pids(), 'it is listening');
    await untilQuiet(calls);
    await onServer(url, (client) => client.query('SELECT pg_terminate_backend($1)', [first]));
    await until(async () => (await pids()).some((pid) => pid !== first), 'it is listening again');
    await calls.happen();
    await untilQuiet(calls);
    one.wakeups.wake();
    await calls.happen();
    end!();
    await until(async () => (await pids()).length === 0, 'the connection is closed');
  }));

test('a signal is sent before the store is closed', () =>
  withTwo(async ({ one, two }) => {
    const calls = new Calls();
    const end = two.wakeups.onChange(calls.add);
    await calls.happen();
    await untilQuiet(calls);
    // The second one would be sent a moment later.
    one.wakeups.tellChange();
    one.wakeups.wake();
    await one.store.close();
    await calls.happen();
    end!();
  }));
