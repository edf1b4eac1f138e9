/**
 * D1 measures every request of the dashboard's pages, on a store with 1,000,000 jobs that keeps changing. D2 measures
 * how much 20 open dashboards, each with an event stream and regular requests, slow down a worker.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createStore, type Lab, runOrThrow } from './lab.ts';
import { stop } from './latency.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';
import { seed } from './seed.ts';

const JOBS = 1_000_000;
const SAMPLES = 40;
const MAX_P95_MS = 50;

/** Some searches match many jobs, some few and some none, because that changes their cost. */
const REQUESTS = [
  ...[
    '/jobs',
    '/jobs?cursor=500000',
    '/jobs?limit=1000',
    '/jobs?state=dead',
    '/jobs?state=completed&queue=default',
  ],
  ...[
    '/jobs?state=pending,processing,failed',
    '/jobs?queue=default',
    '/jobs?queue=rare',
    '/jobs?name=kind-7',
  ],
  ...['/jobs?name=rare', '/jobs?tag=team%3Dteam-3', '/jobs?tag=team%3Dnobody', '/jobs?older-than=1m'],
  ...['/jobs?error=full', '/jobs?state=dead&error=full', '/jobs?exit-code=1', '/jobs?where=attempts%3E5'],
  ...[
    '/jobs?search=seed',
    '/jobs?search=00999',
    '/jobs?search=nothing-has-this',
    '/jobs?state=dead&search=exit',
  ],
  ...['/jobs?state=dead&search=nothing-has-this', '/jobs?queue=default&search=nothing-has-this'],
  ...['/jobs/seed-00500000', '/jobs/seed-00500000/attempts', '/jobs/seed-00500000/output'],
  ...[
    '/jobs/seed-00500000/explain',
    '/queues',
    '/queues/default',
    '/schedules',
    '/workers',
    '/stats',
    '/config',
  ],
  ...[
    '/activity',
    '/activity?limit=1000',
    '/activity?kind=dead',
    '/activity?job=seed-00500000',
    '/operations',
    '/doctor?quick=true',
  ],
  ...['/server', '/dlq/groups', '/stats/series?range=24h', '/stats/series?range=30d&names=true'],
];

export async function dashboard(lab: Lab): Promise<Row[]> {
  return [...(await measurePages(lab)), ...(await measureWithDashboards(lab))];
}

async function measurePages(lab: Lab): Promise<Row[]> {
  const home = lab.emptyDirectory('d1-store');
  createStore(lab, { QUEUECTL_HOME: home });
  const file = join(home, 'queue.db');
  seed(file, { finished: JOBS });
  addDetails(file);
  const server = await serve(lab, home);
  const writer = new DatabaseSync(file);
  try {
    const rows: Row[] = [];
    for (const request of REQUESTS) {
      const times: number[] = [];
      for (let i = -3; i < SAMPLES; i++) {
        writer.exec(CHANGE_SQL);
        await server.change();
        const ms = await server.ask(request);
        if (i >= 0) times.push(ms);
      }
      rows.push({
        ...{ name: 'D1', what: `GET ${request}, p95 of ${SAMPLES}`, value: summaryWithP95(times) },
        target: { at: 'most', limit: MAX_P95_MS },
      });
    }
    return rows;
  } finally {
    writer.close();
    await stop(server.child);
  }
}

/** Changes the store between two requests, so that no answer comes from memory. */
const CHANGE_SQL = "INSERT INTO log (at, kind, actor) VALUES (unixepoch() * 1000, 'setting-set', 'bench')";

/** Adds names, tags, errors and events like those of a store in long use. */
function addDetails(file: string): void {
  const db = new DatabaseSync(file);
  try {
    db.exec(`PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; BEGIN IMMEDIATE;
      UPDATE job SET name = 'kind-' || (number % 20), tags = json_object('team', 'team-' || (number % 7)),
        command = 'convert --quality 80 /srv/pictures/' || number || '.jpg /srv/thumbnails/' || number || '.webp',
        last_error = iif(state = 'dead', 'exit code 1: cannot write /srv/thumbnails: no space left on device', NULL);
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
      INSERT INTO event (at, kind, actor, id, queue, attempt, detail)
        SELECT unixepoch() * 1000 - 300000 + i, iif(i % 3 = 0, 'completed', iif(i % 3 = 1, 'enqueued', 'started')), 'seed',
          format('seed-%08d', i / 3 + 1), (SELECT min(number) FROM queue), 1, iif(i % 3 = 0, '{"exit_code":0}', NULL) FROM n;
      COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`);
  } finally {
    db.close();
  }
}

/** Returns a summary with the p95 in the place of the median, which the report shows. */
function summaryWithP95(times: number[]): ReturnType<typeof summarize> {
  const value = summarize(times, 'ms');
  const sorted = times.toSorted((a, b) => a - b);
  return { ...value, median: sorted[Math.floor(0.95 * sorted.length)]! };
}

interface RunningServer {
  child: ChildProcess;
  /** Returns the milliseconds until the whole response has arrived. */
  ask(path: string): Promise<number>;
  /** Pauses or resumes a queue without jobs. */
  change(): Promise<void>;
  /** Reads an event stream until the server ends. */
  follow(): Promise<void>;
}

async function serve(lab: Lab, home: string): Promise<RunningServer> {
  const child = spawn(lab.queuectl, ['serve', '--port', '0'], {
    env: { ...lab.environment, QUEUECTL_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [, url, file] = await new Promise<string[]>((resolve, reject) => {
    child.stdout.once('data', (data) => resolve(/^(\S+)\ntoken file: (.*)$/m.exec(String(data)) ?? []));
    child.once('exit', () => reject(new Error('the server ended')));
  });
  const base = url!.replace(/\/$/, '');
  const headers = { authorization: `Bearer ${readFileSync(file!, 'utf8').trim()}` };
  let paused = false;
  return {
    child,
    async ask(path) {
      const start = performance.now();
      const answer = await fetch(`${base}/api/v1${path}`, { headers });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
      return performance.now() - start;
    },
    async change() {
      paused = !paused;
      const body = JSON.stringify({ paused });
      const options = { method: 'PATCH', body, headers: { ...headers, 'content-type': 'application/json' } };
      const answer = await fetch(`${base}/api/v1/queues/elsewhere`, options);
      if (!answer.ok) throw new Error(`the change failed: ${answer.status}`);
    },
    async follow() {
      const { body } = await fetch(`${base}/api/v1/events`, { headers });
      void (async () => {
        for await (const _ of body!);
      })().catch(() => {});
    },
  };
}

const D2_JOBS = 3000;
const D2_ROUNDS = 11;
const DASHBOARDS = 20;
/** The overview page sends these requests twice a second. */
const POLLED_PATHS = ['/stats', '/queues', '/workers', '/jobs?state=processing&limit=10'];
const POLL_MS = 500;
/** The dashboards are open for this long before the measurement. */
const WARM_UP_MS = 3000;

async function measureWithDashboards(lab: Lab): Promise<Row[]> {
  const ratesAlone: number[] = [];
  const ratesWatched: number[] = [];
  for (let round = 0; round < D2_ROUNDS; round++) {
    ratesAlone.push(await drainRate(lab, 0));
    ratesWatched.push(await drainRate(lab, DASHBOARDS));
  }
  const [reference, value] = [summarize(ratesAlone, 'jobs/s'), summarize(ratesWatched, 'jobs/s')];
  return [
    { name: 'D2', what: 'worker with 4 slots, no dashboard', value: reference },
    {
      ...{ name: 'D2', what: `worker with 4 slots, ${DASHBOARDS} open dashboards`, value },
      ...{ ratio: value.median / reference.median, target: { at: 'least', limit: 0.9 } },
    },
  ];
}

/** Returns how many jobs per second a worker runs while this many dashboards are open. */
async function drainRate(lab: Lab, dashboards: number): Promise<number> {
  const home = lab.emptyDirectory('d2-store');
  const environment = { QUEUECTL_HOME: home };
  const file = join(home, 'jobs.txt');
  writeFileSync(file, 'true\n'.repeat(D2_JOBS));
  runOrThrow(lab, [lab.queuectl, 'enqueue', '--quiet', '--file', file], environment);
  const server = await serve(lab, home);
  const polls: Timer[] = [];
  try {
    for (let i = 0; i < dashboards; i++) {
      await server.follow();
      polls.push(
        setInterval(() => {
          for (const path of POLLED_PATHS) server.ask(path).catch(() => {});
        }, POLL_MS),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
    const start = performance.now();
    const command = ['worker', 'start', '--count', '1', '--concurrency', '4', '--drain', '--quiet'];
    const worker = spawn(lab.queuectl, command, {
      env: { ...lab.environment, ...environment },
      stdio: 'ignore',
    });
    const code = await new Promise((resolve) => worker.once('exit', resolve));
    if (code !== 0) throw new Error(`the worker exited with ${code}`);
    return (D2_JOBS / (performance.now() - start)) * 1000;
  } finally {
    for (const poll of polls) clearInterval(poll);
    await stop(server.child);
  }
}
