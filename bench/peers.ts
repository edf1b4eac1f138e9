/**
 * Compares queuectl with other queues and with tools that run commands. Each runs the same 3,000 jobs, `sh -c true`, 4 at a time,
 * until all have ended. The jobs are in the queue before the clock starts. Peers that are not installed are skipped.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Lab, runOrThrow } from './lab.ts';
import { measureInTurn } from './measure.ts';
import { summarize } from './numbers.ts';
import { loop } from './peer-loop.ts';
import { rowsOf, toolVariables } from './peer-rows.ts';
import { type Server, startPostgres, startRedis } from './peer-servers.ts';
import type { Row } from './report.ts';
import { drain, JOBS, rate } from './throughput.ts';

const ROUNDS = 5;
const FOLDER = join(import.meta.dirname, 'peers');
export const PACKAGES = join(FOLDER, 'node_modules');

/** Runs the jobs once. */
type Run = () => { wallMs: number; cpuMs: number };

interface Contender {
  what: string;
  /** Is null if the peer is not installed. */
  run: Run | null;
}

export async function peers(lab: Lab): Promise<Row[]> {
  installPackages();
  const servers = { redis: await startRedis(), postgres: await startPostgres(PACKAGES) };
  try {
    const contenders = contendersOf(lab, servers.redis, servers.postgres);
    const runs = contenders.map((): ReturnType<Run>[] => []);
    for (let round = 0; round < ROUNDS; round++)
      for (const [i, { run }] of contenders.entries()) if (run !== null) runs[i]!.push(run());
    const wall = runs.map((some) => some.map((one) => one.wallMs));
    const rows = rowsOf('peers', contenders, wall, rate);
    return [...withCpu(rows, runs), ...(await loop(lab))];
  } finally {
    servers.redis?.stop();
    servers.postgres?.stop();
  }
}

/** Adds the CPU time of a job to each row. */
function withCpu(rows: Row[], runs: ReturnType<Run>[][]): Row[] {
  const perJob = runs.map(
    (some) =>
      summarize(
        some.map(({ cpuMs }) => cpuMs / JOBS),
        'ms',
      ).median,
  );
  return rows.map((row, i) => {
    if (row.value === null) return row;
    const withTime = { ...row, cpuMs: perJob[i]! };
    return i === 0 ? withTime : { ...withTime, cpuRatio: perJob[0]! / perJob[i]! };
  });
}

function contendersOf(lab: Lab, redis: Server | null, postgres: Server | null): Contender[] {
  const library = (name: string, queue: (() => QueueAddress) | null): Run | null =>
    queue !== null && existsSync(PACKAGES) ? () => runLibrary(lab, name, queue()) : null;
  const inPostgres = postgres && (() => postgres);
  const inFile = () => ({ location: join(lab.emptyDirectory('peer-plainjob'), 'plainjob.db') });
  return [
    { what: 'queuectl', run: () => drain(lab, 'true') },
    { what: 'plainjob (SQLite)', run: library('plainjob', inFile) },
    { what: 'BullMQ (Redis)', run: library('bullmq', redis && (() => redis)) },
    { what: 'Graphile Worker (PostgreSQL)', run: library('graphile-worker', inPostgres) },
    {
      what: 'Graphile Worker, local queue of 64',
      run: library('graphile-worker-local-queue', inPostgres),
    },
    { what: 'pg-boss (PostgreSQL)', run: library('pg-boss', inPostgres) },
    { what: 'GNU parallel, no queue', run: tool(lab, 'parallel', '--will-cite -j 4') },
    { what: 'xargs -P 4, no queue', run: tool(lab, 'xargs', '-P 4 -I @ sh -c @') },
  ];
}

interface QueueAddress {
  location: string;
  /** The server of the queue, if it has one. */
  pid?: number;
}

/** Runs the jobs with a library, by default in a program of this runtime. Measures from the start of its worker to the last end. */
export function runLibrary(
  lab: Lab,
  name: string,
  { location, pid }: QueueAddress,
  runtime = [process.execPath, '--no-install'],
): ReturnType<Run> {
  const args = [name, String(JOBS), location, ...(pid === undefined ? [] : [String(pid)])];
  const printed = runOrThrow(lab, [...runtime, join(FOLDER, 'run.mjs'), ...args]);
  const [wallMs, cpuMs] = printed.split(' ').map(Number);
  return { wallMs: wallMs!, cpuMs: cpuMs! };
}

/** Returns a run that gives the tool a list of commands on its standard input. */
function tool(lab: Lab, name: string, args: string): Run | null {
  if (Bun.which(name) === null) return null;
  const command = ['/bin/sh', '-c', `yes true | head -n ${JOBS} | ${name} ${args}`];
  return () => {
    const { wall, cpu } = measureInTurn(lab, 1, [{ command, environment: toolVariables(lab) }]);
    return { wallMs: wall[0]![0]!, cpuMs: cpu[0]![0]! };
  };
}

/** Installs the libraries once, into a folder of their own. Without a network they count as not installed. */
export function installPackages(): void {
  if (existsSync(PACKAGES)) return;
  // `npm ci` would fail if the registry lacks an optional package of another platform.
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', args, { cwd: FOLDER, stdio: 'ignore' });
  if (status !== 0) process.stderr.write('the packages in bench/peers cannot be installed\n');
}
