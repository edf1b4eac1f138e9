/**
 * P5 in one large file: 10,000,000 finished, 1,000,000 ready and 50,000 urgent future jobs in 1,000 queues, against an empty store.
 * Another store has only the queues, with few jobs, to show what the queues alone cost. `--size 0.1` makes the large one smaller.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ClaimedJob } from '../src/core/jobs/job.ts';
import { openSqlite } from '../src/store/sqlite/open.ts';
import type { Store } from '../src/store/store.ts';
import { claimRequest, ending } from '../test/support/jobs.ts';
import { createStore, type Lab } from './lab.ts';
import { measureInTurn, type TimedCommand, timeInTurn } from './measure.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';
import { type Seed, seed } from './seed.ts';

const RUNS = 20;
const CLAIMS = 400;
const PRUNED_BATCHES = 20;
const FINISHED = 10_000_000;
const READY = 1_000_000;
const FUTURE = 50_000;
const QUEUES = 1000;
/** A store that claims and prunes are compared with needs jobs, too. */
const FEW: Seed = { finished: 10_000, ready: 2 * CLAIMS };
const MOST = 1.2;

/** The measurement of the rows with the sizes. */
export const SIZE = 'size of the file';

/** The worker of the last command runs only the job of the first, so it measures start-up, one claim and one run. */
const COMMANDS = [
  ['enqueue', '--queue', 'bench', 'true'],
  ['status'],
  ['list', '--limit', '20'],
  ['worker', 'start', '--queue', 'bench', '--drain', '--quiet'],
];

interface ScaledStore {
  what: string;
  home: string;
  finished: number;
}

export async function scale(lab: Lab): Promise<Row[]> {
  const scaled = (count: number): number => Math.max(1, Math.round(count * lab.size));
  const content = {
    ...{ finished: scaled(FINISHED), ready: scaled(READY) },
    ...{ future: scaled(FUTURE), queues: scaled(QUEUES) },
  };
  const empty = create(lab, 'empty store', {});
  const small = create(lab, '10,000 finished jobs', FEW);
  const queues = create(lab, `${inWords(content.queues)} queues`, {
    // Every queue still has ready jobs after all claims.
    ...{ ...FEW, queues: content.queues, ready: 2 * CLAIMS + 2 * content.queues },
  });
  const full = create(lab, describe(content), content);
  const others = [queues, full];
  return [
    ...timeCommands(lab, [empty, ...others]),
    ...(await timeCalls([small, ...others], 'settle and claim, all queues', CLAIMS, claimNext)),
    ...(await timeCalls([small, ...others], 'prune 100 completed jobs', PRUNED_BATCHES, pruneNext)),
    ...sizes([empty, small, ...others]),
  ];
}

function describe({ finished, ready, future, queues }: Required<Seed>): string {
  const counts = [
    `${inWords(finished)} finished`,
    `${inWords(ready)} ready`,
    `${inWords(future)} future jobs`,
  ];
  return `${counts.join(', ')}, ${inWords(queues)} queues`;
}

function inWords(count: number): string {
  return count.toLocaleString('en');
}

function create(lab: Lab, what: string, content: Seed): ScaledStore {
  const home = lab.emptyDirectory(`scale-${what.replaceAll(/\W+/g, '-')}`);
  createStore(lab, { QUEUECTL_HOME: home });
  const start = performance.now();
  seed(join(home, 'queue.db'), content);
  process.stderr.write(`${what}: made in ${((performance.now() - start) / 1000).toFixed(0)}s\n`);
  return { what, home, finished: content.finished ?? 0 };
}

function timeCommands(lab: Lab, stores: ScaledStore[]): Row[] {
  const commands = COMMANDS.flatMap((args) =>
    stores.map(
      ({ home }): TimedCommand => ({
        command: [lab.queuectl, ...args],
        environment: { QUEUECTL_HOME: home },
      }),
    ),
  );
  timeInTurn(lab, 2, commands);
  const { wall, cpu } = measureInTurn(lab, RUNS, commands);
  return COMMANDS.flatMap((args, c) => {
    const own = (times: number[][]) => times.slice(c * stores.length, (c + 1) * stores.length);
    return rowsOf(stores, args.filter((word) => word !== '--quiet').join(' '), own(wall), own(cpu));
  });
}

/** Returns a row for each store. The first store is the reference. */
function rowsOf(stores: ScaledStore[], what: string, wall: number[][], cpu: number[][]): Row[] {
  const values = wall.map((times) => summarize(times, 'ms'));
  const cpuMs = cpu.map((times) => summarize(times, 'ms').median);
  return stores.map((store, i): Row => {
    const row: Row = { name: 'scale', what: `${what}: ${store.what}`, value: values[i]!, cpuMs: cpuMs[i]! };
    if (i === 0) return row;
    const ratios = { ratio: values[i]!.median / values[0]!.median, cpuRatio: cpuMs[i]! / cpuMs[0]! };
    return { ...row, ...ratios, target: { at: 'most', limit: MOST } };
  });
}

interface OpenStore {
  store: Store;
  finished: number;
}

/** Measures calls of the stores themselves. They are called in turn, so that other load affects all of them. */
async function timeCalls(
  stores: ScaledStore[],
  what: string,
  runs: number,
  newCall: (opened: OpenStore) => () => Promise<void>,
): Promise<Row[]> {
  const opened: OpenStore[] = [];
  for (const { home, finished } of stores)
    opened.push({ finished, ...(await openSqlite(join(home, 'queue.db'))) });
  try {
    const calls = opened.map(newCall);
    const [wall, cpu] = [stores.map((): number[] => []), stores.map((): number[] => [])];
    for (let run = 0; run < runs; run++)
      for (const [i, call] of calls.entries()) {
        const [start, cpuBefore] = [performance.now(), process.cpuUsage()];
        await call();
        const { user, system } = process.cpuUsage(cpuBefore);
        wall[i]!.push(performance.now() - start);
        cpu[i]!.push((user + system) / 1000);
      }
    return rowsOf(stores, what, wall, cpu);
  } finally {
    for (const { store } of opened) await store.close();
  }
}

/** Each call settles the job of the last call and claims the next. */
export function claimNext({ store }: Pick<OpenStore, 'store'>): () => Promise<void> {
  let last: ClaimedJob | undefined;
  return async () => {
    const settlements = last === undefined ? [] : [ending(last, { why: 'exited', code: 0 })];
    [last] = (await store.claim(claimRequest({ settlements }), Date.now())).jobs;
    if (last === undefined) throw new Error('a claim found no job');
  };
}

/** Each call removes one batch. */
function pruneNext({ store, finished }: OpenStore): () => Promise<void> {
  const keep = { ageMs: null, count: Math.floor(finished / 2), bytes: null };
  return async () => {
    const { jobs } = await store.prune('completed', keep, Date.now());
    if (jobs === 0) throw new Error('a prune removed nothing');
  };
}

function sizes(stores: ScaledStore[]): Row[] {
  return stores.map(({ what, home }): Row => {
    const mib = statSync(join(home, 'queue.db')).size / (1 << 20);
    return { name: 'scale', what: `${SIZE}: ${what}`, value: summarize([mib], 'MiB') };
  });
}
