/** Claims and settles jobs without starting commands, in one and in two processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lab, runOrThrow } from './lab.ts';
import { type Summary, summarize } from './numbers.ts';
import type { Server } from './peer-servers.ts';
import { dropQueue, newQueue, toRows } from './postgres-lab.ts';
import type { Row } from './report.ts';

const JOBS = 6000;
const BATCH = 4;

export async function claimLoops(lab: Lab, server: Server, rounds: number): Promise<Row[]> {
  const rates: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++)
    for (const store of ['PostgreSQL', 'SQLite'])
      for (const loops of [1, 2]) {
        const inFile = join(lab.emptyDirectory('p8-claims'), 'queue.db');
        const queue = store === 'SQLite' ? inFile : newQueue(server);
        const rate = await runLoops(lab, queue, loops);
        rates[`${store} ${loops}`] = [...(rates[`${store} ${loops}`] ?? []), rate];
        if (store === 'PostgreSQL') await dropQueue(queue);
      }
  const result = (store: string, loops: number): Summary => summarize(rates[`${store} ${loops}`]!, 'jobs/s');
  const ratio = (store: string): number => result(store, 2).median / result(store, 1).median;
  return [
    ...toRows({
      what: 'claim and settle 4 jobs at a time, one process',
      results: [
        { store: 'PostgreSQL', value: result('PostgreSQL', 1) },
        { store: 'SQLite', value: result('SQLite', 1) },
      ],
    }),
    ...toRows({
      what: 'claim and settle 4 jobs at a time, two processes',
      results: [
        { store: 'PostgreSQL', value: result('PostgreSQL', 2), ratio: ratio('PostgreSQL') },
        { store: 'SQLite', value: result('SQLite', 2), ratio: ratio('SQLite') },
      ],
      ...{ against: 'one process', target: { at: 'least', limit: 1.4 } },
    }),
  ];
}

/** Returns the jobs per second of some processes that claim from one queue. */
async function runLoops(lab: Lab, queue: string, loops: number): Promise<number> {
  const file = join(lab.emptyDirectory('p8-jobs'), 'jobs.txt');
  writeFileSync(file, 'true\n'.repeat(JOBS));
  runOrThrow(lab, [lab.queuectl, 'enqueue', '--quiet', '--file', file], { QUEUECTL_DB: queue });
  const program = lab.program('claim-loop');
  const children = Array.from({ length: loops }, (_, i) =>
    spawn(program, [queue, `w${i}`, String(BATCH)], {
      env: lab.environment,
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const lines = children.map((child) => once(child.stdout, 'data'));
  for (const child of children) child.stdin.end('go\n');
  const results = (await Promise.all(lines)).map(([line]) => String(line).split(' ').map(Number));
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')));
  const jobs = results.reduce((sum, [one]) => sum + one!, 0);
  if (jobs !== JOBS) throw new Error(`${jobs} of ${JOBS} jobs were claimed`);
  const start = Math.min(...results.map(([, at]) => at!));
  const end = Math.max(...results.map(([, , at]) => at!));
  return (JOBS / (end - start)) * 1000;
}
