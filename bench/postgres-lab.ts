/** What the parts of the benchmark of PostgreSQL share. */
import { readFileSync } from 'node:fs';
import { maybeRead } from '../src/files/read.ts';
import { connectClient } from '../src/store/postgres/connection/client.ts';
import { quoteName, readLocation } from '../src/store/postgres/connection/location.ts';
import type { Summary } from './numbers.ts';
import type { Server } from './peer-servers.ts';
import type { Row } from './report.ts';

/** The names of the columns of the table in docs/performance.md. */
export const STORES = ['PostgreSQL', 'SQLite', 'Graphile Worker', 'Graphile Worker on Bun'] as const;

export interface Measurement {
  what: string;
  results: { store: (typeof STORES)[number]; value: Summary; ratio?: number; cpuMs?: number }[];
  /** What the ratio compares with, and its target for PostgreSQL. */
  against?: string;
  target?: NonNullable<Row['target']>;
}

/** Returns a row for each store. The row of PostgreSQL has the target. */
export function toRows({ what, results, against, target }: Measurement): Row[] {
  return results.map(({ store, ...result }) => ({
    ...{ name: 'P8', what: `${what}: ${store}`, ...result },
    ...(result.ratio !== undefined && against !== undefined && { against }),
    ...(store === 'PostgreSQL' && target !== undefined && { target }),
  }));
}

let queues = 0;

/** Returns the URL of a queue that does not exist yet. */
export const newQueue = ({ location }: Server): string => `${location}&schema=bench_${++queues}`;

/** Runs SQL in the schema of a queue, as one statement after the other. */
export async function runSql(queue: string, sql: string): Promise<Record<string, unknown>[]> {
  const location = readLocation(queue, {});
  const client = await connectClient(location, { answerMs: 600_000 });
  try {
    await client.query(`SET search_path = ${quoteName(location.schema)}`);
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Removes a queue, or the schema of Graphile Worker, so that later runs do not wait for its vacuum. */
export async function dropQueue(queue: string): Promise<void> {
  await runSql(queue, `DROP SCHEMA ${quoteName(readLocation(queue, {}).schema)} CASCADE`);
}

const TICKS_PER_SECOND = 100;

/**
 * Returns the CPU time of a server and its processes. Those that have ended count for the first one. So it is read again if one of
 * them has ended meanwhile.
 */
export function serverCpuMs({ pid }: Server): number {
  const children = (): string => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  for (;;) {
    const before = children();
    const times = [String(pid), ...before.split(' ').filter(Boolean)].map(cpuMs);
    if (children() === before) return times.reduce((sum, one) => sum + one, 0);
  }
}

function cpuMs(pid: string): number {
  const stat = maybeRead(`/proc/${pid}/stat`) ?? '';
  const ticks = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 16);
  return (ticks.reduce((sum, one) => sum + Number(one), 0) / TICKS_PER_SECOND) * 1000;
}
