/** How a program stops its workers and closes a queue, and what becomes of the running jobs. */
import { expect } from 'bun:test';
import { join } from 'node:path';
import { onEachRuntime, printedBy } from '../support/library.ts';

/** Runs a job that ends when the file `gate` exists or its directory is gone, and stops it in a given way. */
const stopping = (stop: string) => `
import { writeFileSync } from 'node:fs';
import { openQueue } from 'queuectl';
const [db, gate] = process.argv.slice(-2);
const queue = await openQueue({ db });
await queue.enqueue({ id: 'job', command: 'while [ -e ' + db + ' ] && [ ! -e ' + gate + ' ]; do sleep 0.01; done; echo end' });
const events = [];
let started;
const running = new Promise((resolve) => { started = resolve; });
const worker = await queue.startWorker({ onEvent(event) {
  events.push(event);
  if (event.kind === 'started') started();
} });
await running;
const open = () => writeFileSync(gate, '');
const result = await (async () => { ${stop} })();
const after = await openQueue({ db });
const { state, attempts } = await after.get('job');
console.log(JSON.stringify({ result, state, attempts, kinds: events.map(({ kind }) => kind) }));
await after.close();
`;

interface Printed {
  result: unknown;
  state: string;
  attempts: number;
  kinds: string[];
}

const CASES: [title: string, stop: string, state: string, attempts: number, kinds: string[]][] = [
  [
    'close() lets the running job finish, and a wait sees it',
    `const waited = queue.wait('job'); const closed = queue.close(); open(); await closed; return (await waited).state;`,
    'completed',
    1,
    ['worker-ready', 'started', 'worker-draining', 'completed', 'worker-stopped'],
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
    'close({ timeout }) ends the job after that time',
    "await queue.close({ timeout: '50ms' });",
    'pending',
    0,
    ['worker-ready', 'started', 'worker-draining', 'worker-draining', 'ending', 'requeued', 'worker-stopped'],
  ],
  [
    'close({ timeout, leave: true }) leaves the job running after that time',
    'await queue.close({ timeoutMs: 50, leave: true });',
    'processing',
    0,
    ['worker-ready', 'started', 'worker-draining', 'worker-draining', 'worker-stopped'],
  ],
  [
    'close({ timeout }) does not wait longer than the job runs',
    "const closed = queue.close({ timeout: '1h' }); open(); await closed;",
    'completed',
    1,
    ['worker-ready', 'started', 'worker-draining', 'completed', 'worker-stopped'],
  ],
  [
    'a second close({ force: true }) speeds up the first',
    'const closed = queue.close(); await queue.close({ force: true }); await closed;',
    'pending',
    0,
    ['worker-ready', 'started', 'worker-draining', 'worker-draining', 'ending', 'requeued', 'worker-stopped'],
  ],
  [
    'await using closes the queue at the end of the block',
    `const dispose = queue[Symbol.asyncDispose](); open(); await dispose;
     return queue.counts().catch((error) => error.message);`,
    'completed',
    1,
    ['worker-ready', 'started', 'worker-draining', 'completed', 'worker-stopped'],
  ],
  [
    'await using stops a worker at the end of the block',
    `const dispose = worker[Symbol.asyncDispose](); open(); await dispose; await queue.close();`,
    'completed',
    1,
    ['worker-ready', 'started', 'worker-draining', 'completed', 'worker-stopped'],
  ],
];

const RESULTS: Record<number, unknown> = { 0: 'completed', 7: 'the queue is closed' };

for (const [i, [title, stop, state, attempts, kinds]] of CASES.entries())
  onEachRuntime(title, (runtime, directory) => {
    const files = [join(directory, 'queue.db'), join(directory, 'gate')];
    const printed = printedBy(runtime, stopping(stop), ...files) as Printed;
    const { result = null } = printed;
    expect({ ...printed, result }).toMatchObject({ result: RESULTS[i] ?? null, state, attempts, kinds });
  });

const HEIR = `
import { writeFileSync } from 'node:fs';
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
  (runtime, directory) => {
    const [db, gate] = [join(directory, 'queue.db'), join(directory, 'gate')];
    printedBy(runtime, stopping('await worker.stop({ leave: true }); await queue.close();'), db, gate);
    expect(printedBy(runtime, HEIR, db, gate)).toEqual({
      kinds: ['worker-ready', 'adopted', 'completed', 'worker-stopped'],
      text: 'end\n',
      attempts: 1,
    });
  },
);

const EVENTS = `
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

onEachRuntime('onEvent and events() report one shape', (runtime, directory) => {
  const { reported, log, worker } = printedBy(runtime, EVENTS, join(directory, 'queue.db')) as {
    reported: Record<string, unknown>[];
    log: Record<string, unknown>[];
    worker: string;
  };
  expect(reported.map(({ kind }) => kind)).toEqual(['worker-ready', 'started', 'dead', 'worker-stopped']);
  for (const event of reported) {
    const same = log.find(({ kind }) => kind === event.kind)!;
    const { number, at, actor, ...rest } = event;
    expect({ number, actor }).toEqual({ number: null, actor: worker });
    expect(Math.abs(Date.parse(at as string) - Date.parse(same.at as string))).toBeLessThan(10_000);
    // The worker reports more details in places, under names of their own.
    const { duration_ms: _, pid: __, left: ___, ...common } = rest;
    expect(same).toMatchObject(common);
  }
});

const THROWING = `
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
  "an error in onEvent is the program's own and does not end the worker",
  (runtime, directory) => {
    expect(printedBy(runtime, THROWING, join(directory, 'queue.db'))).toEqual({
      state: 'completed',
      thrown: ['worker-ready', 'started', 'completed', 'worker-stopped'],
    });
  },
);
