/** How a program stops workers and closes a queue, what becomes of running jobs, and the events passed to `onEvent`. */
import { expect } from 'bun:test';
import { join } from 'node:path';
import { onEachRuntime, printedBy } from '../support/library.ts';

/** Returns a program that runs a job and then the statements `stop`. The job ends when `gate` exists or its directory is gone. */
const stoppingProgram = (stop: string) => `
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { openQueue } from 'queuectl';
const [db, gate] = process.argv.slice(-2);
const queue = await openQueue({ db });
await queue.enqueue({ id: 'job', command: 'while [ -e ' + dirname(gate) + ' ] && [ ! -e ' + gate + ' ]; do sleep 0.01; done; echo end' });
const events = [];
let started;
const running = new Promise((resolve) => { started = resolve; });
const worker = await queue.startWorker({ onEvent(event) {
  events.push(event);
  if (event.kind === 'started') started();
} });
await running;
const openGate = () => writeFileSync(gate, '');
const result = await (async () => { ${stop} })();
const after = await openQueue({ db });
const { state, attempts } = await after.get('job');
console.log(JSON.stringify({ result, state, attempts, kinds: events.map(({ kind }) => kind) }));
await after.close();
`;

interface Printed {
  result?: unknown;
  state: string;
  attempts: number;
  kinds: string[];
}

/** The statements `stop`, with the expected job and worker events, and the result if the statements return one. */
const CASES: [
  title: string,
  stop: string,
  state: string,
  attempts: number,
  kinds: string[],
  result?: string,
][] = [
  [
    'close() lets the running job finish, and a pending wait() returns it',
    `const waited = queue.wait('job'); const closed = queue.close(); openGate(); await closed; return (await waited).state;`,
    'completed',
    1,
    ['worker-ready', 'started', 'worker-draining', 'completed', 'worker-stopped'],
    'completed',
  ],
  [
    'close({ force: true }) puts the running job back in its queue',
    'await queue.close({ force: true });',
    'pending',
    0,
    ['worker-ready', 'started', 'worker-draining', 'ending', 'requeued', 'worker-stopped'],
  ],
  [
    'close({ leave: true }) leaves the job running',
    'await queue.close({ leave: true });',
    'processing',
    0,
    ['worker-ready', 'started', 'worker-draining', 'worker-stopped'],
  ],
  [
    'close({ timeout }) stops the job after that time and puts it back in its queue',
    "await queue.close({ timeout: '50ms' });",
    'pending',
    0,
    ['worker-ready', 'started', 'worker-draining', 'worker-draining', 'ending', 'requeued', 'worker-stopped'],
  ],
  [
    'close({ timeoutMs, leave: true }) waits that long and leaves the job running',
    'await queue.close({ timeoutMs: 50, leave: true });',
    'processing',
    0,
    ['worker-ready', 'started', 'worker-draining', 'worker-draining', 'worker-stopped'],
  ],
  [
    'close({ timeout }) returns when the job has ended, before the timeout',
    "const closed = queue.close({ timeout: '1h' }); openGate(); await closed;",
    'completed',
    1,
    ['worker-ready', 'started', 'worker-draining', 'completed', 'worker-stopped'],
  ],
  [
    'close({ force: true }) during another close() stops the job at once',
    'const closed = queue.close(); await queue.close({ force: true }); await closed;',
    'pending',
    0,
    ['worker-ready', 'started', 'worker-draining', 'worker-draining', 'ending', 'requeued', 'worker-stopped'],
  ],
  [
    'queue[Symbol.asyncDispose]() lets the running job finish and closes the queue',
    `const dispose = queue[Symbol.asyncDispose](); openGate(); await dispose;
     return queue.counts().catch((error) => error.message);`,
    'completed',
    1,
    ['worker-ready', 'started', 'worker-draining', 'completed', 'worker-stopped'],
    'the queue is closed',
  ],
  [
    'worker[Symbol.asyncDispose]() lets the running job finish and stops the worker',
    `const dispose = worker[Symbol.asyncDispose](); openGate(); await dispose; await queue.close();`,
    'completed',
    1,
    ['worker-ready', 'started', 'worker-draining', 'completed', 'worker-stopped'],
  ],
];

for (const [title, stop, state, attempts, kinds, result] of CASES)
  onEachRuntime(title, (runtime, db, directory) => {
    const files = [db, join(directory, 'gate')];
    const printed = printedBy(runtime, stoppingProgram(stop), ...files) as Printed;
    expect(printed).toEqual({ ...(result === undefined ? {} : { result }), state, attempts, kinds });
  });

const ADOPTING_PROGRAM = `
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { openQueue } from 'queuectl';
const [db, gate] = process.argv.slice(-2);
const queue = await openQueue({ db });
const kinds = [];
const worker = await queue.startWorker({ drain: true, onEvent(event) {
  kinds.push(event.kind);
  if (event.kind === 'adopted') writeFileSync(gate, '');
} });
await worker.done;
console.log(JSON.stringify({ kinds, text: await queue.logs('job'), attempts: (await queue.attempts('job')).length }));
await queue.close();
`;

onEachRuntime(
  'the worker of the next program takes over a job that was left running',
  (runtime, db, directory) => {
    const gate = join(directory, 'gate');
    printedBy(runtime, stoppingProgram('await worker.stop({ leave: true }); await queue.close();'), db, gate);
    expect(printedBy(runtime, ADOPTING_PROGRAM, db, gate)).toEqual({
      kinds: ['worker-ready', 'adopted', 'completed', 'worker-stopped'],
      text: 'end\n',
      attempts: 1,
    });
  },
);

const REPORTING_PROGRAM = `
import { openQueue } from 'queuectl';
const queue = await openQueue({ db: process.argv.at(-1) });
await queue.enqueue({ id: 'job', queue: 'mail', command: 'exit 3', max_retries: 1 });
const reported = [];
const worker = await queue.startWorker({ drain: true, queues: ['mail'], onEvent: (event) => reported.push(event) });
await worker.done;
const log = [];
for await (const event of queue.events({ after: 0 })) {
  log.push(event);
  if (event.kind === 'worker-stopped') break;
}
await queue.close();
console.log(JSON.stringify({ reported, log, worker: worker.id }));
`;

onEachRuntime('onEvent reports the same events as events(), but without numbers', (runtime, db) => {
  const { reported, log, worker } = printedBy(runtime, REPORTING_PROGRAM, db) as {
    reported: Record<string, unknown>[];
    log: Record<string, unknown>[];
    worker: string;
  };
  expect(reported.map(({ kind }) => kind)).toEqual(['worker-ready', 'started', 'dead', 'worker-stopped']);
  for (const event of reported) {
    const logged = log.find(({ kind }) => kind === event.kind)!;
    const { number, at, actor, ...rest } = event;
    expect({ number, actor }).toEqual({ number: null, actor: worker });
    expect(Math.abs(Date.parse(at as string) - Date.parse(logged.at as string))).toBeLessThan(10_000);
    // events() returns no `duration_ms`, no `left`, and no `pid` of a started job.
    const { duration_ms: _, pid: __, left: ___, ...common } = rest;
    expect(logged).toMatchObject(common);
  }
});

const THROWING_PROGRAM = `
import { openQueue } from 'queuectl';
const queue = await openQueue({ db: process.argv.at(-1) });
const thrown = [];
process.on('uncaughtException', (error) => thrown.push(error.message));
await queue.enqueue({ id: 'job', command: 'true' });
const worker = await queue.startWorker({ drain: true, onEvent(event) { throw new Error(event.kind); } });
await worker.done;
const { state } = await queue.get('job');
await queue.close();
console.log(JSON.stringify({ state, thrown }));
`;

onEachRuntime(
  'an error in onEvent is an uncaught exception of the program and does not end the worker',
  (runtime, db) => {
    expect(printedBy(runtime, THROWING_PROGRAM, db)).toEqual({
      state: 'completed',
      thrown: ['worker-ready', 'started', 'completed', 'worker-stopped'],
    });
  },
);
