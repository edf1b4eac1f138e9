import { pause } from '../../src/core/time/clock.ts';
import { connectClient } from '../../src/store/postgres/connection/client.ts';
import { readLocation } from '../../src/store/postgres/connection/location.ts';
import { until } from '../support/queuectl.ts';
import { below } from '../support/random.ts';
import { chargesAndExits, inStorm, type Storm } from './f38-postgres-storm.ts';
import type { Fault } from './fault.ts';
import { roundDone, startProgress } from './progress.ts';
import { readWitness, witnessed } from './witness.ts';

/** The lease is longer than every outage, even on a slow machine, so all jobs have to go on. */
const SETTINGS = { lease: '60s' };
const JOBS_PER_ROUND = 6;
const LONGEST_OUTAGE_MS = 3000;

type Outage = (storm: Storm) => Promise<void>;

const crash: Outage = async ({ server, lab }) => {
  await server.crash();
  await pause(below(lab.random, LONGEST_OUTAGE_MS));
  await server.startAgain();
};

/** Kills only the first process of the server. The others end when they notice that. */
const killPostmaster: Outage = async ({ server, lab }) => {
  process.kill(server.pid, 'SIGKILL');
  await pause(500 + below(lab.random, LONGEST_OUTAGE_MS));
  await until(
    () =>
      server.startAgain().then(
        () => true,
        () => false,
      ),
    'the server runs again',
  );
};

/** Takes all connections of the server that are left, after those of the workers were terminated. */
const exhaustConnections: Outage = async ({ server, lab }) => {
  const location = readLocation(server.url, {});
  const clients = [await connectClient(location)];
  await clients[0]!.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`);
  for (;;) {
    const client = await connectClient(location).catch(() => null);
    if (client === null) break;
    clients.push(client);
  }
  await pause(below(lab.random, LONGEST_OUTAGE_MS));
  await Promise.all(clients.map((client) => client.end()));
};

const OUTAGES = [crash, killPostmaster, exhaustConnections];

/** Makes the server unavailable for shorter than a lease while jobs run, end and wait. */
export const postgresRestarts: Fault = {
  id: 'F39',
  title: 'PostgreSQL crashes, is killed or has no free connections, for shorter than the lease',
  small: 3,
  full: 30,
  run: (rounds, seed, program) =>
    inStorm(seed, program, async (storm) => {
      const { lab } = storm;
      await lab.configure(SETTINGS);
      const workers = lab.supervisor(['--count', '3', '--concurrency', '2']);
      startProgress(rounds);
      for (let round = 0; round < rounds; round++) {
        const jobs = Array.from({ length: JOBS_PER_ROUND }, (_, i) => ({
          id: `j${round}-${i}`,
          command: witnessed(below(lab.random, 2 * LONGEST_OUTAGE_MS) / 1000),
        }));
        await lab.enqueue(jobs);
        const hasStarted = (id: string): boolean =>
          readWitness(lab.box.directory).some((line) => line.job === id);
        await until(() => jobs.slice(0, 2).every(({ id }) => hasStarted(id)), 'jobs run');
        await OUTAGES[round % OUTAGES.length]!(storm);
        await lab.waitForJobs();
        roundDone();
      }
      const violations = await lab.judge();
      return {
        jobs: lab.enqueued.length,
        faults: rounds,
        violations: [...violations, ...(await chargesAndExits(storm, [workers]))],
      };
    }),
};
