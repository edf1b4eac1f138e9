import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '../support/http.ts';
import { printedBy } from '../support/library.ts';
import {
  enqueue,
  inSandbox,
  type JobJson,
  lines,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { onTestServer } from '../support/sandbox-store.ts';

/** Returns a test that runs `body` in a sandbox with a new queue on the server of this run of tests. */
const inPostgresSandbox = (body: (box: Sandbox) => Promise<void>) => inSandbox(body, undefined, onTestServer);

test(
  'the quick start: a job fails, is retried, goes to the dead letter queue, is retried there and completes',
  inPostgresSandbox(async (box) => {
    const { run } = box;
    const file = join(box.directory, 'sales.csv');
    const added = await run(['enqueue', '--id', 'report', '--max-retries', '2', `cat ${file}`]);
    expect(added).toMatchObject({ code: 0, stdout: 'report\n' });
    expect((await run(['worker', 'start', '--detach'])).code).toBe(0);
    expect(await run(['wait', 'report'])).toMatchObject({ code: 1 });
    const [dead] = await box.json<JobJson[]>(['dlq', 'list']);
    expect(dead).toMatchObject({ id: 'report', attempts: 2, exit_code: 1 });
    expect(dead!.last_error).toContain('No such file or directory');
    writeFileSync(file, '42\n');
    expect((await run(['dlq', 'retry', 'report'])).code).toBe(0);
    expect((await run(['wait', 'report'])).code).toBe(0);
    expect((await run(['logs', 'report'])).stdout).toBe('42\n');
    expect((await run(['status'])).stdout).toContain('completed\t1\n');
    const top = await run(['top', '--once'], { env: { COLUMNS: '100' } });
    expect(top.stdout).toContain('completed 1 ');
    expect((await run(['worker', 'stop'])).code).toBe(0);
    expect(await box.json<unknown[]>(['worker', 'list'])).toEqual([]);
  }),
);

test(
  'an enqueue wakes an idle worker, which polls only once an hour',
  inPostgresSandbox(async (box) => {
    await box.json(['config', 'set', 'poll-interval', '1h']);
    await box.startWorkers();
    for (const id of ['one', 'two', 'three']) {
      await enqueue(box, id, 'true');
      expect((await box.run(['wait', id, '--timeout', '60s'])).code).toBe(0);
    }
    // A command that waits is told about the end of a job, and prints what the job wrote.
    const direct = await box.run(['run', '--max-retries', '1', '--', 'sh', '-c', 'echo out; exit 7']);
    expect(direct).toMatchObject({ code: 7, stdout: 'out\n' });
  }),
);

test(
  'a running job is cancelled, and a waiting one, too',
  inPostgresSandbox(async (box) => {
    const trace = join(box.directory, 'trace');
    await box.startWorkers('--concurrency', '2');
    await enqueue(box, 'long', `echo started >>${trace}; sleep 600; echo ended >>${trace}`);
    await enqueue(box, 'later', 'true', { delay: '1h' });
    await until(() => lines(trace).length === 1, 'the job runs');
    expect((await box.run(['cancel', 'long', 'later'])).code).toBe(0);
    await untilState(box, 'long', 'cancelled');
    await untilState(box, 'later', 'cancelled');
    expect(lines(trace)).toEqual(['started']);
  }),
);

test(
  'a schedule enqueues jobs, a queue keeps its limit, and a job waits for its parents',
  inPostgresSandbox(async (box) => {
    const trace = join(box.directory, 'trace');
    await box.json(['queue', 'set', 'narrow', '--concurrency', '1']);
    await box.json(['schedule', 'add', 'ticking', '--every', '1s', `echo tick >>${trace}`]);
    await enqueue(box, 'parent', 'sleep 0.2');
    await enqueue(box, 'child', 'true', { after: ['parent'] });
    for (const id of ['n1', 'n2', 'n3'])
      await enqueue(box, id, `echo start >>${trace}-n; sleep 0.2; echo end >>${trace}-n`, {
        queue: 'narrow',
      });
    await box.startWorkers('--count', '2', '--concurrency', '3');
    for (const id of ['child', 'n1', 'n2', 'n3'])
      expect((await box.run(['wait', id, '--timeout', '60s'])).code).toBe(0);
    expect(lines(`${trace}-n`)).toEqual(['start', 'end', 'start', 'end', 'start', 'end']);
    await until(() => lines(trace).length >= 2, 'two ticks have run');
    const [parent, child] = await Promise.all(
      ['parent', 'child'].map((id) => box.json<{ started_at: string; finished_at: string }>(['show', id])),
    );
    expect(child!.started_at >= parent!.finished_at).toBe(true);
  }),
);

test(
  'the server lists, adds and retries jobs, and streams their events',
  inPostgresSandbox(async (box) => {
    await box.create();
    const site = await serve(box);
    const stream = await site.events();
    const added = await site.call('POST', '/api/v1/jobs', {
      body: { id: 'one', command: 'exit 3', max_retries: 1 },
    });
    expect(added.status).toBe(201);
    await box.startWorkers();
    await until(() => stream.seen.some(({ event }) => event === 'dead'), 'the job is dead');
    const { json } = await site.call('GET', '/api/v1/jobs?state=dead');
    expect(json.jobs.map((job: JobJson) => job.id)).toEqual(['one']);
    const before = stream.seen.length;
    expect((await site.call('POST', '/api/v1/jobs/one/retry')).status).toBe(200);
    await until(() => stream.seen.slice(before).some(({ event }) => event === 'dead'), 'it is dead again');
    stream.close();
  }),
);

const PROGRAM = `
import { openQueue } from 'queuectl';
const queue = await openQueue({ db: process.argv.at(-1) });
const worker = await queue.startWorker({ concurrency: 2 });
const job = await queue.enqueue({ command: 'echo hello' });
const ended = await queue.wait(job.id, { timeoutMs: 60_000 });
await worker.stop();
const kinds = [];
for await (const event of queue.events({ after: 1 })) {
  kinds.push(event.kind);
  if (event.kind === 'worker-stopped') break;
}
console.log(JSON.stringify({ state: ended.state, counts: await queue.counts(), kinds }));
await queue.close();
`;

test(
  'a program opens a queue on PostgreSQL and runs a job',
  inPostgresSandbox(async (box) => {
    process.env.QUEUECTL_HOME = box.home;
    try {
      expect(printedBy(process.execPath, PROGRAM, box.environment.QUEUECTL_DB!)).toMatchObject({
        state: 'completed',
        counts: { completed: 1 },
        kinds: ['enqueued', 'started', 'completed', 'worker-stopped'],
      });
    } finally {
      delete process.env.QUEUECTL_HOME;
    }
  }),
);
