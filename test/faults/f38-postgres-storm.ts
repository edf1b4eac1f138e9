import { pause, type Random } from '../../src/core/time/clock.ts';
import { type CommitFault, startCuttingProxy } from '../support/cutting-proxy.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { EXECUTABLE, type Sandbox, sandbox, until } from '../support/queuectl.ts';
import { below, pick } from '../support/random.ts';
import { storeAt } from '../support/sandbox-store.ts';
import type { Audit } from './audit.ts';
import { type Fault, type Figures, formatCount } from './fault.ts';
import { openLab, type StoreLab, type Supervisor } from './lab.ts';
import { postgresAudit, withClient } from './postgres-audit.ts';
import { roundDone, startProgress } from './progress.ts';
import { readWitness, type WitnessLine, witnessed } from './witness.ts';

const MOST_WORKERS = 9;
/** In each round, these jobs are enqueued, these connections are terminated, and one answer to a COMMIT is lost. */
const JOBS_PER_ROUND = 50;
const TERMINATIONS_PER_ROUND = 10;
/** One round in this many crashes the server at the moment of the lost answer, so that nobody can ask what became of the COMMIT. */
const ROUNDS_PER_RESTART = 5;
/** The answer belongs to a claim, except in one round in this many. There it belongs to any write. */
const ROUNDS_PER_OTHER_ANSWER = 4;
/** A part of the statement that claims jobs. */
const CLAIM = 'WITH claiming AS';
/** Every fifth job is in a queue with a concurrency limit, and the job after it waits for its end. */
const [LIMITED_QUEUE, LIMIT] = ['limited', 2];
const isLimited = (id: string): boolean => Number(id.split('-')[1]) % 5 === 3;
const parentOf = (id: string): string => id.replace(/\d+$/, (i) => String(Number(i) - 1));
export const STORM_SETTINGS = { 'heartbeat-interval': '500ms', 'kill-grace': '500ms', lease: '20s' };
/** After the last fault, a job that has stood still for longer than a lease counts as late. */
export const LAST_LEASE = '8s';

export interface Storm {
  lab: StoreLab;
  audit: Audit;
  server: PostgresServer;
  proxy: Awaited<ReturnType<typeof startCuttingProxy>>;
  terminated: number;
  restarts: number;
}

/** Breaks the connections of workers and commands to PostgreSQL in every way, while they claim, settle and enqueue jobs. */
export const postgresStorm: Fault = {
  id: 'F38',
  title: 'PostgreSQL connections are terminated, answers to COMMIT are lost, and the server crashes',
  small: 3,
  full: 100,
  run: (rounds, seed, program) =>
    inStorm(seed, program, async (storm) => {
      const { lab, proxy } = storm;
      await lab.box.json(['queue', 'set', LIMITED_QUEUE, '--concurrency', String(LIMIT)]);
      const count = String(Math.min(rounds, MOST_WORKERS));
      const env = { QUEUECTL_DB: proxy.url };
      const workers = lab.supervisor(['--count', count, '--concurrency', '2'], env);
      startProgress(rounds);
      for (let round = 0; round < rounds; round++) {
        await playRound(storm, round, jobsOf(lab.random, round));
        roundDone();
      }
      await lab.configure({ lease: LAST_LEASE });
      await lab.waitForJobs();
      const violations = await lab.judge();
      const more = [...(await checkStore(lab.box)), ...checkOrder(readWitness(lab.box.directory))];
      return figuresOf(storm, workers, [...violations, ...more]);
    }),
};

/** Runs `work` with a lab on a server that it may crash, and with a proxy before that server. */
export async function inStorm<T>(
  seed: number,
  program: string | undefined,
  work: (storm: Storm) => Promise<T>,
): Promise<T> {
  // Commits are synced, so that connections are often terminated during a commit.
  const server = await startPostgres({ durable: true });
  const box = sandbox([], program ?? EXECUTABLE, (home) => storeAt(server.url, home));
  const proxy = await startCuttingProxy(server.url);
  try {
    const audit = postgresAudit(server.url, async () => void (await box.run(['events'])));
    const lab = await openLab(box, seed, audit);
    await lab.configure(STORM_SETTINGS);
    return await work({ lab, audit, server, proxy, terminated: 0, restarts: 0 });
  } finally {
    await box.cleanup();
    proxy.close();
    await server.stop();
  }
}

/** Enqueues jobs while connections break, and waits until most jobs have ended. */
export async function playRound(storm: Storm, round: number, jobs: StormJob[]): Promise<void> {
  const enqueued = enqueueAt(storm.proxy.url, storm.lab, `round ${round}`, jobs);
  await Promise.all([enqueued, breakConnections(storm, round)]);
  // The next round begins while jobs of this one are still waiting.
  const isBacklogShort = async () => (await storm.audit.unfinishedWork()).unfinished <= JOBS_PER_ROUND;
  await storm.lab.waitForJobs(isBacklogShort);
}

async function breakConnections(storm: Storm, round: number): Promise<void> {
  const { lab, proxy } = storm;
  const kind = round % 2 === 1 ? 'drop-answer' : 'drop-client';
  const after = round % ROUNDS_PER_OTHER_ANSWER === 3 ? '' : CLAIM;
  if (round % ROUNDS_PER_RESTART === 1) await restartDuringCommit(storm, kind, after);
  else proxy.cutNext(kind, { after });
  for (let i = 0; i < TERMINATIONS_PER_ROUND; i++) {
    await pause(below(lab.random, 60));
    await until(() => terminateOne(storm), 'a connection is terminated');
  }
  await until(() => proxy.cuts() > round, 'an answer to a COMMIT is lost');
}

export type StormJob = Parameters<StoreLab['enqueue']>[0][number];

/** Returns the jobs of a round. */
function jobsOf(random: Random, round: number): StormJob[] {
  return stormJobs(random, round, witnessed).map((job) => ({
    ...job,
    ...(isLimited(job.id) && { queue: LIMITED_QUEUE }),
    ...(isLimited(parentOf(job.id)) && { depends_on: [parentOf(job.id)] }),
  }));
}

/** Returns the jobs of a round, each with a command that takes a number of seconds. */
export function stormJobs(random: Random, round: number, command: (seconds: number) => string): StormJob[] {
  // Workers claim short jobs ahead, but not long ones.
  const longestMs = round % 2 === 0 ? 300 : 1;
  return Array.from({ length: JOBS_PER_ROUND }, (_, i) => ({
    id: `j${round}-${i}`,
    command: command(below(random, longestMs) / 1000),
  }));
}

/** Enqueues jobs over the same broken connections. If the result is unknown, repeats it with the same idempotency key. */
export async function enqueueAt(url: string, lab: StoreLab, key: string, jobs: StormJob[]): Promise<void> {
  const stdin = jobs.map((job) => JSON.stringify(job)).join('\n');
  const command = ['enqueue', '--file', '-', '--idempotency-key', key];
  const env = { QUEUECTL_DB: url };
  await until(async () => {
    const { code, stderr } = await lab.box.run(command, { stdin, env });
    if (code !== 0 && code !== 5) throw new Error(`enqueue exited with ${code}: ${stderr}`);
    return code === 0;
  }, 'the jobs are enqueued');
  for (const { id } of jobs) lab.recordEnqueue(id, 'ok');
}

/** Terminates a random connection, or one of those that run a statement or a transaction. Returns false if there was none. */
export async function terminateOne(storm: Storm): Promise<boolean> {
  const { lab, server } = storm;
  const condition = below(lab.random, 2) === 0 ? '' : "AND state <> 'idle'";
  return withClient(server.url, async (client) => {
    const { rows } = await client.query(`SELECT pid FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ${condition} ORDER BY pid`);
    if (rows.length === 0) return false;
    const { pid } = pick(lab.random, rows);
    const result = await client.query('SELECT pg_terminate_backend($1) AS done', [pid]);
    if (!result.rows[0].done) return false;
    storm.terminated++;
    return true;
  });
}

/** Crashes the server after it has got a COMMIT, before or after its answer, and starts it again. The answer does not reach the client. */
async function restartDuringCommit(storm: Storm, kind: CommitFault, after: string): Promise<void> {
  const { server, proxy } = storm;
  let crashing: Promise<void> | null = null;
  const whenCut = (): void => {
    // The client must not reach the server before the crash, because the server could still tell whether it has committed.
    proxy.refuse(true);
    crashing = server.crash();
  };
  proxy.cutNext(kind, { after, whenCut });
  await until(() => crashing !== null, 'an answer to a COMMIT is lost');
  await crashing;
  proxy.refuse(false);
  await server.startAgain();
  storm.restarts++;
}

/** Runs the checks of the program itself, with these variables. */
export async function checkStore(
  box: Sandbox,
  env: Record<string, string> = {},
): Promise<Figures['violations']> {
  const { stdout, stderr } = await box.run(['db', 'check'], { env });
  return stdout === 'ok\n' ? [] : [{ kind: 'invariant', what: `db check: ${stdout}${stderr}` }];
}

/** Finds jobs that ran although their queue was full, or before their parent had ended. */
function checkOrder(lines: WitnessLine[]): Figures['violations'] {
  const found: Figures['violations'] = [];
  const running = new Set<string>();
  const ended = new Set<string>();
  for (const { what, job } of lines) {
    if (what === 'E') {
      ended.add(job);
      running.delete(job);
      continue;
    }
    if (isLimited(job)) running.add(job);
    if (running.size > LIMIT)
      found.push({ kind: 'overfull', what: `${[...running].join(', ')} ran together` });
    if (isLimited(parentOf(job)) && !ended.has(parentOf(job)))
      found.push({ kind: 'early', what: `${job} ran before its parent had ended` });
  }
  return found;
}

async function figuresOf(storm: Storm, workers: Supervisor, found: Figures['violations']): Promise<Figures> {
  return {
    jobs: storm.lab.enqueued.length,
    faults: faultsOf(storm),
    violations: [...found, ...(await chargesAndExits(storm, [workers]))],
    notes: notesOf(storm),
  };
}

/** Finds jobs that needed more than one attempt, and workers that exited. An outage shorter than the lease causes neither. */
export async function chargesAndExits(
  { audit }: Storm,
  workers: Supervisor[],
): Promise<Figures['violations']> {
  const charged = (await audit.readJobs()).filter((job) => job.attempts !== 1 || job.crashes !== 0);
  const exits = workers.flatMap((one) => one.output().split('starting a replacement').slice(1)).length;
  return [
    ...charged.map(({ id, attempts, crashes }) => ({
      kind: 'charged',
      what: `${id} has ${attempts} attempts and ${crashes} crashes`,
    })),
    ...(exits === 0 ? [] : [{ kind: 'exited', what: `${exits} workers exited` }]),
  ];
}

export const faultsOf = ({ terminated, restarts, proxy }: Storm): number =>
  terminated + restarts + proxy.cuts();

export const notesOf = ({ terminated, restarts, proxy }: Storm): string =>
  `${formatCount(terminated)} connections terminated, ${proxy.cuts()} answers to COMMIT lost, ${restarts} immediate restarts`;
