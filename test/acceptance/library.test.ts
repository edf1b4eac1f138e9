import { expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onEachRuntime, printedBy } from '../support/library.ts';

/** Enqueues, runs, awaits, retries and lists jobs, and follows the events. */
const JOBS_PROGRAM = `
import { openQueue, QueueError } from 'queuectl';
const [db, file] = process.argv.slice(-2);
const queue = await openQueue({ db, actor: 'me' });
const seen = [];
const watching = (async () => {
  for await (const event of queue.events({ after: 0 })) seen.push([event.number, event.kind, event.actor]);
})();
const good = await queue.enqueue({ command: \`echo line >> \${file}\`, priority: 'high', tags: { a: 'b' } });
const [bad, later] = await queue.enqueue([{ command: 'exit 3', max_retries: 1 }, { command: 'true', delay: '1h' }]);
const worker = await queue.startWorker({ concurrency: 2 });
const ended = [];
for (const job of [good, bad]) ended.push(await queue.wait(job.id, { timeoutMs: 60_000 }));
const refused = await queue.enqueue({ command: 'true', comand: 'x' }).catch((error) => error instanceof QueueError && error.code);
const retried = await queue.retry(bad.id);
const again = await queue.wait(bad.id, { timeoutMs: 60_000 });
const dead = (await queue.list({ state: 'dead' })).map((job) => job.id);
const missing = await queue.get('nope').catch((error) => error.code);
await worker.stop();
const replayed = await (async () => {
  const kinds = [];
  for await (const event of queue.events({ after: 1 })) {
    kinds.push(event.kind + (event.kind === 'enqueued' ? ' by ' + event.actor : ''));
    if (event.kind === 'worker-stopped') return kinds;
  }
})();
while (seen.length < replayed.length + 1) await new Promise((resolve) => setTimeout(resolve, 10));
console.log(JSON.stringify({
  replayed: replayed.slice(0, 2), deadEvents: replayed.filter((kind) => kind === 'dead').length,
  inOrder: seen.every(([number], i) => number === i + 1),
  states: ended.map((job) => [job.state, job.exit_code]), refused, retried: retried[0] === bad.id, again: again.state,
  dead: dead.length, missing, counts: await queue.counts(), later: (await queue.get(later.id)).state,
  reasons: [good.waiting_for, again.waiting_for, later.waiting_for],
  scheduled: (await queue.list({ waiting_for: ['scheduled', 'held'] })).length,
  unknownReason: await queue.list({ waiting_for: 'helt' }).catch((error) => error.message),
}));
await queue.close();
await watching;
`;

const JOBS_RESULT = {
  replayed: ['enqueued by me', 'enqueued by me'],
  deadEvents: 2,
  inOrder: true,
  states: [
    ['completed', 0],
    ['dead', 3],
  ],
  refused: 'invalid-job',
  retried: true,
  again: 'dead',
  dead: 1,
  reasons: ['no_worker', null, 'scheduled'],
  scheduled: 1,
  unknownReason: "waiting_for: unknown reason 'helt'; did you mean held?",
  missing: 'job-not-found',
  counts: { pending: 1, processing: 0, completed: 1, failed: 0, dead: 1, cancelled: 0 },
  later: 'pending',
};

/** Changes jobs, queues and schedules, and repeats an enqueue. */
const CONTROL_PROGRAM = `
import { openQueue } from 'queuectl';
const [db] = process.argv.slice(-2);
const queue = await openQueue({ db });
const errorCode = (promise) => promise.then(() => 'no error', (error) => error.code);
const one = await queue.enqueue({ id: 'one', command: 'true', delay: '1h', idempotency_key: 'k' });
const again = await queue.enqueue({ id: 'one', command: 'true', delay: '1h' }, { idempotency_key: 'k' });
const keyReused = await errorCode(queue.enqueue({ command: 'false', idempotency_key: 'k' }));
const unknownOption = await errorCode(queue.enqueue('true', { idempotencykey: 'k' }));
const two = await queue.enqueue(['a', 'b'], { idempotency_key: 'two' });
const same = await queue.enqueue(['a', 'b'], { idempotency_key: 'two' });
const held = await queue.hold('one');
const heldTwice = await queue.hold('one', 'one');
const released = await queue.release('one');
const unknownJob = await errorCode(queue.cancel('one', 'nobody'));
const cancelled = await queue.cancel('one');
const deleted = await queue.delete('one');

const set = await queue.queues.set('mail', { concurrency: 2, rate: '10/s' });
const unset = await queue.queues.set('mail', { concurrency: null, rate: 'none' });
const paused = await queue.queues.pause('mail', 'me');
const resumed = await queue.queues.resume('mail');
const badLimits = [];
for (const limits of [{ concurrency: 0 }, { rate: '0/s' }, { priority_aging: '1m' }]) badLimits.push(await errorCode(queue.queues.set('mail', limits)));

const added = await queue.schedules.add({ name: 'nightly', cron: '30 2 * * *', timezone: 'UTC', job: { command: 'true', queue: 'mail' } });
const nameTaken = await errorCode(queue.schedules.add({ name: 'nightly', every: 90, job: 'true' }));
const badSchedules = [];
for (const wrong of [{}, { cron: '*/0 * * * *' }, { every: 90, timezone: 'UTC' }, { every: 90, overlap: 'sometimes' }, { cron: 5 }, { every: 90, catch_up: 1 },
  { every: 90, job: { command: 'true', id: 'x' } }]) badSchedules.push(await errorCode(queue.schedules.add({ name: 'wrong', job: 'true', ...wrong })));
const run = await queue.schedules.run('nightly');
const pausedSchedule = await queue.schedules.pause('nightly', 'me');
const resumedSchedule = await queue.schedules.resume('nightly');
const listed = (await queue.schedules.list()).map((schedule) => [schedule.name, schedule.last_job_id === run.id]);
await queue.schedules.remove('nightly');

await queue.enqueue({ id: 'running', command: 'exec sleep 600', priority: 'urgent' });
const worker = await queue.startWorker();
while ((await queue.get('running')).state !== 'processing') await new Promise((done) => setTimeout(done, 20));
const cancelledWhileRunning = await queue.cancel('running');
const state = (await queue.get('running')).state;
await worker.stop({ force: true });
console.log(JSON.stringify({
  again: [again.id, again.existing], keyReused, unknownOption, same: same.map((job, i) => job.existing && job.id === two[i].id), held, heldTwice,
  released, unknownJob, cancelled, deleted, set: [set.concurrency, set.rate],
  unset: [unset.concurrency, unset.rate], paused: paused.paused_by, resumed: resumed.paused, badLimits,
  added: [added.timezone, added.queue], nameTaken, badSchedules, run: [run.name, run.queue], pausedSchedule: pausedSchedule.paused_by,
  resumedSchedule: resumedSchedule.paused, listed, schedulesLeft: (await queue.schedules.list()).length, cancelledWhileRunning, state,
}));
await queue.close();
`;

const CONTROL_RESULT = {
  again: ['one', true],
  keyReused: 'key-reused',
  unknownOption: 'invalid-job',
  same: [true, true],
  held: { changed: ['one'], unchanged: [] },
  heldTwice: { changed: [], unchanged: ['one'] },
  released: { changed: ['one'], unchanged: [] },
  unknownJob: 'job-not-found',
  cancelled: { changed: ['one'], unchanged: [] },
  deleted: { changed: ['one'], unchanged: [] },
  set: [2, '10/s'],
  unset: [null, null],
  paused: 'me',
  resumed: false,
  badLimits: ['invalid-value', 'invalid-value', 'usage'],
  added: ['UTC', 'mail'],
  nameTaken: 'schedule-exists',
  badSchedules: [
    'usage',
    'invalid-cron',
    'usage',
    'invalid-value',
    'invalid-cron',
    'invalid-value',
    'invalid-job',
  ],
  run: ['nightly', 'mail'],
  pausedSchedule: 'me',
  resumedSchedule: false,
  listed: [['nightly', true]],
  schedulesLeft: 0,
  cancelledWhileRunning: { changed: ['running'], unchanged: [] },
  state: 'cancelled',
};

onEachRuntime('a program runs jobs and follows events', (runtime, db, directory) => {
  const file = join(directory, 'lines');
  expect(printedBy(runtime, JOBS_PROGRAM, db, file)).toEqual(JOBS_RESULT);
  expect(readFileSync(file, 'utf8')).toBe('line\n');
});

onEachRuntime('a program manages queues and schedules', (runtime, db, directory) => {
  expect(printedBy(runtime, CONTROL_PROGRAM, db, join(directory, 'lines'))).toEqual(CONTROL_RESULT);
});
