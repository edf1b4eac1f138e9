/** Counts the notifications that workers get while many jobs are enqueued. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connectClient } from '../src/store/postgres/connection/client.ts';
import { readLocation } from '../src/store/postgres/connection/location.ts';
import { createStore, type Lab } from './lab.ts';
import { summarize } from './numbers.ts';
import type { Server } from './peer-servers.ts';
import { dropQueue, newQueue, runSql, toRows } from './postgres-lab.ts';
import type { Row } from './report.ts';

const PROCESSES = 4;
/** The calls of each process at the same time. */
const CALLS = 4;
const JOBS_PER_CALL = 10;
const MS = 5000;
const MOST_PER_SECOND = 50;
const LEAST_ENQUEUES = 5000;

export async function signals(lab: Lab, server: Server): Promise<Row[]> {
  const queue = newQueue(server);
  createStore(lab, { QUEUECTL_DB: queue });
  const [meta] = await runSql(queue, "SELECT value FROM meta WHERE key = 'store'");
  const listener = await connectClient(readLocation(queue, {}));
  let notifications = 0;
  listener.on('notification', () => notifications++);
  await listener.query(`LISTEN "queuectl_${meta!.value}"`);
  const program = lab.program('enqueue-loop');
  const start = performance.now();
  const children = Array.from({ length: PROCESSES }, () =>
    spawn(program, [queue, String(MS), String(CALLS), String(JOBS_PER_CALL)], {
      env: lab.environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const counts = await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const seconds = (performance.now() - start) / 1000;
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')));
  await listener.end();
  await dropQueue(queue);
  const rate = counts.reduce((sum, [line]) => sum + Number(line), 0) / seconds;
  const notified = notifications / seconds;
  return [
    ...toRows({
      what: `enqueues a second, ${JOBS_PER_CALL} jobs in a call, ${PROCESSES * CALLS} calls at a time`,
      results: [{ store: 'PostgreSQL', value: summarize([rate], 'jobs/s'), ratio: rate / LEAST_ENQUEUES }],
      ...{ against: '5,000', target: { at: 'least', limit: 1 } },
    }),
    ...toRows({
      what: 'NOTIFYs a second meanwhile',
      results: [
        { store: 'PostgreSQL', value: summarize([notified], '/s'), ratio: notified / MOST_PER_SECOND },
      ],
      ...{ against: '50', target: { at: 'most', limit: 1 } },
    }),
  ];
}
