import { pause } from '../../src/core/time/clock.ts';
import { addHost, type TestHost } from '../support/hosts.ts';
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { until } from '../support/queuectl.ts';
import { below } from '../support/random.ts';
import {
  chargesAndExits,
  checkStore,
  enqueueAt,
  inStorm,
  LAST_LEASE,
  type Storm,
  type StormJob,
  terminateOne,
} from './f38-postgres-storm.ts';
import { type Fault, type Figures, formatCount } from './fault.ts';
import { jobProcessesIn } from './job-processes.ts';
import type { Supervisor } from './lab.ts';
import { withClient } from './postgres-audit.ts';
import { roundDone, startProgress } from './progress.ts';
import { hasTool } from './syscalls.ts';
import { witnessed } from './witness.ts';

/** Fewer connections than workers, so that the transactions of all processes take turns on them. */
const SHARED_CONNECTIONS = 3;
const WORKERS_PER_HOST = 3;
/** In each round, these jobs are enqueued at once. Then each host gets one job while its workers are idle. */
const JOBS_AT_ONCE = 48;
const DROPS_PER_ROUND = 10;
const TERMINATIONS_PER_ROUND = 3;
const POLL_MS = 2000;
/** An idle worker polls this often if its URL has no `listen`. */
const POLL_WITHOUT_LISTEN_MS = 250;
/** A slow machine delays the start of a job, too. */
const SLOW_MACHINE_MS = 5000;

interface PooledHost {
  host: TestHost;
  /** The name of the host, and of a queue that only its workers serve. */
  name: string;
  /** The URL with which it reaches the server through PgBouncer. */
  url: string;
  workers: Supervisor;
  /** The longest time for which a job may wait while the workers of the host are idle. */
  pollMs: number;
  /** How long each of these jobs has waited, in milliseconds. */
  waits: number[];
}

interface Scene {
  storm: Storm;
  bouncer: PgBouncer;
  /** The first host listens on a direct connection. The second one polls. */
  hosts: PooledHost[];
  dropped: number;
  kills: number;
}

/** How one round keeps notifications from the workers. */
interface Loss {
  /** Runs while the jobs are enqueued and run. */
  during(scene: Scene): Promise<void>;
  /** Runs when all workers are idle, just before a job is added for each host. */
  before(scene: Scene): void;
  after(scene: Scene): void;
}

const nothing = (): void => {};

const dropConnections: Loss = {
  async during(scene) {
    for (let i = 0; i < DROPS_PER_ROUND; i++) {
      await pause(below(scene.storm.lab.random, 100));
      await until(() => drop(scene) > 0, 'a connection with LISTEN is dropped');
    }
  },
  before: drop,
  after: nothing,
};

/** The notifications get lost, and the connections stay open. */
const loseNotifications: Loss = {
  during: async ({ storm }) => storm.proxy.freeze(),
  before: nothing,
  after: ({ storm }) => storm.proxy.freeze(false),
};

const refuseConnections: Loss = {
  async during(scene) {
    scene.storm.proxy.refuse(true);
    drop(scene);
  },
  before: nothing,
  after: ({ storm }) => storm.proxy.refuse(false),
};

const killBouncer: Loss = {
  async during(scene) {
    await pause(below(scene.storm.lab.random, 300));
    await scene.bouncer.kill();
    scene.kills++;
    await pause(below(scene.storm.lab.random, 2000));
    await scene.bouncer.start();
  },
  before: drop,
  after: nothing,
};

const LOSSES = [dropConnections, loseNotifications, refuseConnections, killBouncer];

function drop(scene: Scene): number {
  const ended = scene.storm.proxy.endConnections();
  scene.dropped += ended;
  return ended;
}

/** Runs jobs through PgBouncer in transaction mode, while notifications get lost and connections break. */
export const pooler: Fault = {
  id: 'F41',
  title:
    'PgBouncer in transaction mode is killed, and connections with LISTEN or their notifications are lost',
  small: 4,
  full: 20,
  whySkipped: () => (hasTool('pgbouncer') ? null : 'no pgbouncer'),
  run: (rounds, seed, program) =>
    inStorm(seed, program, async (storm) => {
      await storm.lab.configure({ 'poll-interval': `${POLL_MS}ms` });
      const bouncer = await startPgBouncer(storm.server.url, SHARED_CONNECTIONS);
      const scene: Scene = { storm, bouncer, hosts: [], dropped: 0, kills: 0 };
      const direct = `${bouncer.url}?prepared=off&listen=${encodeURIComponent(storm.proxy.url)}`;
      try {
        scene.hosts.push(addPooledHost(storm, 'direct', direct, POLL_MS));
        scene.hosts.push(
          addPooledHost(storm, 'polling', `${bouncer.url}?prepared=off`, POLL_WITHOUT_LISTEN_MS),
        );
        startProgress(rounds);
        for (let round = 0; round < rounds; round++) {
          await playRound(scene, round);
          roundDone();
        }
        await storm.lab.configure({ lease: LAST_LEASE });
        return await judge(scene);
      } finally {
        for (const { host } of scene.hosts) await host.kill();
        await bouncer.stop();
      }
    }),
};

function addPooledHost({ lab }: Storm, name: string, url: string, pollMs: number): PooledHost {
  const host = addHost(lab.box, name, { url });
  const args = ['--count', String(WORKERS_PER_HOST), '--concurrency', '2', '--queue', `default,${name}`];
  return { host, name, url, pollMs, waits: [], workers: lab.supervisor(args, host.environment) };
}

async function playRound(scene: Scene, round: number): Promise<void> {
  const { storm, hosts } = scene;
  const { lab } = storm;
  const loss = LOSSES[round % LOSSES.length]!;
  const jobs = Array.from({ length: JOBS_AT_ONCE }, (_, i) => ({
    id: `j${round}-${i}`,
    command: witnessed(below(lab.random, 200) / 1000),
  }));
  const { url } = hosts[round % hosts.length]!;
  await Promise.all([loss.during(scene), enqueueAt(url, lab, `round ${round}`, jobs), terminateSome(storm)]);
  await lab.waitForJobs();
  for (const host of hosts) {
    const job = { id: `${host.name}${round}`, command: witnessed(0), queue: host.name };
    loss.before(scene);
    await enqueueAt(url, lab, job.id, [job]);
    host.waits.push(await waitOf(storm, host, job));
  }
  loss.after(scene);
}

async function terminateSome(storm: Storm): Promise<void> {
  for (let i = 0; i < TERMINATIONS_PER_ROUND; i++) {
    await pause(below(storm.lab.random, 100));
    await until(() => terminateOne(storm), 'a connection is terminated');
  }
}

/** Waits until a job has started, and returns how long that took by the clock of the server. It is infinite if that takes too long. */
async function waitOf({ lab, server }: Storm, { pollMs }: PooledHost, { id }: StormJob): Promise<number> {
  const giveUpAt = performance.now() + pollMs + SLOW_MACHINE_MS;
  let ms: number | null = null;
  await until(async () => {
    const { rows } = await withClient(server.url, (client) =>
      client.query('SELECT started_at - created_at AS ms FROM job WHERE id = $1', [id]),
    );
    ms = rows[0].ms;
    return ms !== null || performance.now() > giveUpAt;
  }, `${id} has started`);
  if (ms === null) return Number.POSITIVE_INFINITY;
  await lab.waitForJobs();
  return ms;
}

async function judge(scene: Scene): Promise<Figures> {
  const { storm, hosts, dropped, kills } = scene;
  const { lab } = storm;
  const late = hosts.flatMap(({ name, pollMs, waits }) =>
    waits
      .filter((ms) => ms > pollMs + SLOW_MACHINE_MS)
      .map((ms) => ({ kind: 'late', what: `a job waited ${ms} ms for an idle worker of ${name}` })),
  );
  if (late.length === 0) await lab.waitForJobs();
  const violations = await lab.judge();
  const more = await chargesAndExits(
    storm,
    hosts.map(({ workers }) => workers),
  );
  const orphans = hosts.flatMap(({ host }) => jobProcessesIn(host.home));
  const left = orphans.map(({ job, pid }) => ({ kind: 'orphan', what: `process ${pid} of ${job} is left` }));
  const longest = hosts.map(({ waits }) => formatCount(Math.max(...waits)));
  return {
    jobs: lab.enqueued.length,
    faults: dropped + kills + storm.terminated,
    violations: [
      ...late,
      ...violations,
      ...more,
      ...left,
      ...(await checkStore(lab.box, { QUEUECTL_DB: hosts[0]!.url })),
    ],
    notes: `${formatCount(dropped)} connections with LISTEN dropped, ${storm.terminated} connections terminated, PgBouncer killed ${kills} times; a job waited at most ${longest[0]}ms for an idle worker with notifications lost, and ${longest[1]}ms for one that polls`,
  };
}
