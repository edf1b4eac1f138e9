/** Measures what a million finished jobs cost a claim. */
import { join } from 'node:path';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { ensureRegistered } from '../test/support/jobs.ts';
import { createStore, type Lab } from './lab.ts';
import { type Summary, summarize } from './numbers.ts';
import type { Server } from './peer-servers.ts';
import { dropQueue, newQueue, runSql, toRows } from './postgres-lab.ts';
import type { Row } from './report.ts';
import { claimNext } from './scale.ts';
import { seed } from './seed.ts';

const FINISHED = 1_000_000;
const CLAIMS = 600;
/** The first claims make the plans of the statements. */
const WARM_UP = 40;

const NEW_JOB = 'command, queue, priority, max_retries, cwd, created_at, updated_at, state, phase';
const JOB_VALUES = "'true', queue.number, 0, 3, '/', :start + i, :start + i";
/** The finished and the ready jobs are those of the other store (seed.ts). One in a hundred is dead. */
const SEED = (finished: number, ready: number, start: number): string =>
  `
  INSERT INTO queue (name) VALUES ('default') ON CONFLICT DO NOTHING;
  INSERT INTO job (id, ${NEW_JOB}, attempts, runs, token, attempt, started_at, finished_at, exit_code, last_error, duration_ms)
    SELECT 'seed-' || lpad(i::text, 8, '0'), ${JOB_VALUES}, CASE WHEN i % 100 = 0 THEN 'dead' ELSE 'completed' END, 'ended', 1, 1, 1,
      i, :start + i + 5, :start + i + 9, CASE WHEN i % 100 = 0 THEN 1 ELSE 0 END,
      CASE WHEN i % 100 = 0 THEN 'exit code 1' END, 4
    FROM generate_series(1, ${finished}) AS i, queue;
  INSERT INTO attempt (number, job, ordinal, token, worker_id, started_at, wait_ms, finished_at, why, exit_code, error)
    SELECT attempt, number, 1, 1, 'seed', started_at, 5, finished_at, 'exited', exit_code, last_error FROM job;
  SELECT setval('attempt_number_seq', ${finished} + 1);
  INSERT INTO job (id, ${NEW_JOB}, due_at)
    SELECT 'ready-' || lpad(i::text, 8, '0'), ${JOB_VALUES}, 'pending', 'ready', :start
    FROM generate_series(1, ${ready}) AS i, queue;
  INSERT INTO counter (queue, state, jobs) SELECT queue, state, count(*) FROM job GROUP BY 1, 2`.replaceAll(
    ':start',
    `${start}`,
  );

interface Queue {
  location: string;
  finished: number;
}

export async function claimHistory(lab: Lab, server: Server): Promise<Row[]> {
  const kinds = { PostgreSQL: () => newQueue(server), SQLite: () => newFile(lab) };
  const rows: Row[] = [];
  const results: Record<string, [Summary, Summary]> = {};
  for (const [store, newLocation] of Object.entries(kinds)) {
    const queues: Queue[] = [0, FINISHED].map((finished) => ({ location: newLocation(), finished }));
    for (const queue of queues) await create(lab, queue);
    results[store] = await timeClaims(queues);
    if (store === 'PostgreSQL') for (const { location } of queues) await dropQueue(location);
  }
  const [inPostgres, inFile] = [results.PostgreSQL!, results.SQLite!];
  rows.push(
    ...toRows({
      what: 'settle one job and claim the next, no finished jobs',
      results: [
        { store: 'PostgreSQL', value: inPostgres[0] },
        { store: 'SQLite', value: inFile[0] },
      ],
    }),
    ...toRows({
      what: `the same with ${FINISHED.toLocaleString('en')} finished jobs`,
      results: [
        { store: 'PostgreSQL', value: inPostgres[1], ratio: inPostgres[1].median / inPostgres[0].median },
        { store: 'SQLite', value: inFile[1], ratio: inFile[1].median / inFile[0].median },
      ],
      ...{ against: 'no finished jobs', target: { at: 'most', limit: 1.5 } },
    }),
  );
  return rows;
}

let files = 0;
const newFile = (lab: Lab): string => join(lab.emptyDirectory(`p8-history-${++files}`), 'queue.db');

async function create(lab: Lab, { location, finished }: Queue): Promise<void> {
  createStore(lab, { QUEUECTL_DB: location });
  const ready = CLAIMS + 2 * WARM_UP;
  if (!location.startsWith('postgres')) return seed(location, { finished, ready });
  await runSql(location, SEED(finished, ready, Date.now() - finished - 60_000));
  await runSql(location, 'VACUUM ANALYZE');
}

/** Returns the times of claims in each queue. They are claimed from in turn, so that other load affects both. */
async function timeClaims(queues: Queue[]): Promise<[Summary, Summary]> {
  const stores: Store[] = [];
  for (const { location } of queues)
    stores.push((await openStore(location, { ifMissing: 'refuse', access: 'read' })).store);
  try {
    for (const store of stores) await ensureRegistered(store, 'w1');
    const calls = stores.map((store) => claimNext({ store }));
    const times = stores.map((): number[] => []);
    for (let i = 0; i < WARM_UP + CLAIMS; i++)
      for (const [s, call] of calls.entries()) {
        const start = performance.now();
        await call();
        if (i >= WARM_UP) times[s]!.push(performance.now() - start);
      }
    return [summarize(times[0]!, 'ms'), summarize(times[1]!, 'ms')];
  } finally {
    for (const store of stores) await store.close();
  }
}
