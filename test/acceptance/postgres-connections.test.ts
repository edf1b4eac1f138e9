import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../../src/core/time/clock.ts';
import { type Client, connectClient } from '../../src/store/postgres/connection/client.ts';
import { readLocation } from '../../src/store/postgres/connection/location.ts';
import { withOwnServer } from '../support/own-server.ts';
import { onServer } from '../support/postgres.ts';
import { type JobJson, lines, until } from '../support/queuectl.ts';

/** Includes two heartbeats of each worker, or three. On average, there are at most two statements a second. */
const WATCHED_MS = 10_000;
const MOST_STATEMENTS = 2.4;

/** Counts the connections of queuectl, without those of the test. */
async function countConnections(client: Client): Promise<number> {
  const { rows } = await client.query(
    "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'queuectl' AND pid <> pg_backend_pid()",
  );
  return rows[0].n;
}

/** Takes connections of the server until only `left` are free. Those that become free later are taken by the next call. */
function filler(url: string) {
  const taken: Client[] = [];
  const open = () => connectClient(readLocation(url, { PGAPPNAME: 'filler' }));
  return {
    async fill(left = 0): Promise<void> {
      for (let isFull = false; !isFull; ) {
        const client = await open().catch(() => null);
        isFull = client === null;
        if (client !== null) taken.push(client);
      }
      await Promise.all(taken.splice(0, left).map((client) => client.end()));
    },
    count: () => countConnections(taken.at(-1)!),
    release: () => Promise.all(taken.splice(0).map((client) => client.end())),
  };
}

test(
  'an idle worker has two connections and sends at most two statements a second',
  withOwnServer(async (box, server) => {
    const run = (text: string) => onServer(server.url, async (client) => (await client.query(text)).rows);
    await run("ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'");
    await server.crash();
    await server.startAgain();
    await run('CREATE EXTENSION pg_stat_statements');
    await box.run(['enqueue', 'true']);
    await box.startWorkers('--count', '2');
    // The supervisor has one.
    const isIdle = () => onServer(server.url, async (client) => (await countConnections(client)) <= 5);
    await until(isIdle, 'spare connections are closed');
    const statementsPerSecond = async (): Promise<number> => {
      await run('SELECT pg_stat_statements_reset()');
      const from = performance.now();
      await pause(WATCHED_MS);
      const [row] = await run("SELECT sum(calls) AS calls FROM pg_stat_statements WHERE query !~ 'pg_stat'");
      return row!.calls / 2 / ((performance.now() - from) / 1000);
    };
    // The first seconds include the start of the workers.
    const found = await until(async () => {
      const rate = await statementsPerSecond();
      return rate <= MOST_STATEMENTS && rate;
    }, 'each worker sends few statements');
    expect(found).toBeGreaterThan(0.5);
  }),
);

test(
  'worker stop stops the workers of this host although the server has no connection left, and a second one does not stop their jobs',
  withOwnServer(async (box, server) => {
    const { fill, count, release } = filler(server.url);
    const [started, gate] = [join(box.directory, 'started'), join(box.directory, 'gate')];
    await box.json([
      'enqueue',
      '--id',
      'a',
      `echo a >>${started}; while [ ! -e ${gate} ]; do sleep 0.05; done`,
    ]);
    const workers = await box.startWorkers('--count', '2');
    try {
      await until(() => lines(started).length === 1, 'the job runs');
      await until(async () => {
        await fill();
        return (await count()) <= 5;
      }, 'the workers have few connections');
      await fill();
      const stops = [box.start(['worker', 'stop']), box.start(['worker', 'stop'])];
      await until(() => workers.output().split(' stopping (').length > 2, 'both workers drain');
      writeFileSync(gate, '');
      expect(await Promise.all(stops.map(({ closed }) => closed))).toEqual([0, 0]);
      const output = stops.map((stop) => stop.output()).join('');
      expect(output).toContain('stopping 2 workers of this host by signals');
    } finally {
      await release();
    }
    const [job] = await box.json<JobJson[]>(['list', '--all']);
    expect(job).toMatchObject({ state: 'completed', attempts: 1, crashes: 0 });
    expect(await box.json<unknown[]>(['worker', 'list'])).toEqual([]);
  }),
);

test(
  'worker start warns before it takes the last connections, and a stop and an enqueue still connect',
  withOwnServer(async (box, server) => {
    const { fill, release } = filler(server.url);
    await box.run(['enqueue', 'true']);
    await fill(15);
    try {
      const workers = await box.startWorkers('--count', '6');
      expect(workers.output()).toContain('6 workers need 13 connections');
      expect((await box.run(['enqueue', 'true', '--id', 'b'])).code).toBe(0);
      await until(async () => (await box.json<JobJson>(['show', 'b'])).state === 'completed', 'the job ran');
      const stopped = await box.run(['worker', 'stop']);
      expect(stopped.stdout).toContain('stopped 6 workers');
    } finally {
      await release();
    }
  }),
);
