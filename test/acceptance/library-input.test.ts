/** What a program may pass to the library, and how wrong input and calls after close() are refused. */
import { expect } from 'bun:test';
import { onEachRuntime, printedBy } from '../support/library.ts';

/** Calls that are refused, each with the code of its error and a part of the message. */
const REFUSED_CALLS: [call: string, code: string, message: string][] = [
  ["openQueue({ db: 'sqlite::memory:' })", 'store-unavailable', "':memory:' cannot be used"],
  ["openQueue({ db: ':memory:' })", 'store-unavailable', "':memory:' cannot be used"],
  ["openQueue({ db: '' })", 'invalid-value', 'db must not be empty'],
  ['openQueue({ db: 5 })', 'invalid-value', 'db must be a string, not a number'],
  ["openQueue({ database: 'x.db' })", 'usage', "openQueue() has no option 'database'"],
  ["openQueue('queue.db')", 'invalid-value', 'the options of openQueue() must be an object, not a string'],
  ["openQueue({ actor: ' ' })", 'invalid-value', 'actor must not be empty'],
  [
    'queue.startWorker({ concurrency: 0 })',
    'invalid-value',
    "concurrency must be a whole number from 1 to 1024, not '0'",
  ],
  ["queue.startWorker({ labels: ['gpu'] })", 'usage', "'labels' is not supported: a label is a queue"],
  ["queue.enqueue({ command: 'true', runs_on: 'gpu' })", 'invalid-job', "'runs_on' is not supported"],
  ["queue.startWorker({ concurrency: '3x' })", 'invalid-value', "not '3x'"],
  ['queue.startWorker({ concurrency: 1.5 })', 'invalid-value', "not '1.5'"],
  ['queue.startWorker({ concurrency: {} })', 'invalid-value', 'concurrency must be a whole number'],
  ['queue.startWorker({ concurency: 2 })', 'usage', "did you mean 'concurrency'?"],
  ['queue.startWorker({ queues: [] })', 'invalid-value', 'queues is empty'],
  ["queue.startWorker({ queues: ['a,b'] })", 'invalid-job', 'a queue name'],
  ['queue.startWorker({ queues: [5] })', 'invalid-value', 'queues must be a string, not a number'],
  ["queue.startWorker({ drain: 'no' })", 'invalid-value', 'drain must be true or false, not a string'],
  ["queue.startWorker({ onEvent: 'x' })", 'invalid-value', 'onEvent must be a function'],
  ["queue.list({ state: 'ded' })", 'invalid-value', "unknown state 'ded'; did you mean dead?"],
  ["queue.list({ state: ['dead', 'xyz'] })", 'invalid-value', "unknown state 'xyz'"],
  ['queue.list({ state: [] })', 'invalid-value', 'state is empty'],
  ["queue.list({ status: 'dead' })", 'usage', "did you mean 'state'?"],
  ['queue.list({ limit: -1 })', 'invalid-value', 'limit must be a whole number'],
  ["queue.list({ older_than: '5x' })", 'invalid-duration', "older_than: invalid duration '5x'"],
  ["queue.list({ exit_code: 'x' })", 'invalid-value', 'exit_code must be a whole number'],
  ["queue.list({ where: 'attempts' })", 'invalid-value', 'where: invalid condition'],
  ["queue.list({ queue: '' })", 'invalid-value', 'queue must not be empty'],
  ["queue.list({ tags: 'a=b' })", 'invalid-job', 'tags must be an object of strings'],
  ['queue.get()', 'invalid-value', 'the job id must be a string, not undefined'],
  ['queue.get(job)', 'invalid-value', 'the job id must be a string, not an object'],
  ['queue.cancel([job.id])', 'invalid-value', 'the job id must be a string, not an array'],
  ["openQueue({ db: '/missing/x.db' })", 'store-unavailable', 'db: there is no directory'],
  ['queue.retry(5)', 'invalid-value', 'the job id must be a string, not a number'],
  ['queue.wait(job)', 'invalid-value', 'the job id must be a string, not an object'],
  ["queue.wait(job.id, { timeout: '5x' })", 'invalid-duration', "timeout: invalid duration '5x'"],
  ['queue.wait(job.id, { timeoutMs: -1 })', 'invalid-value', 'timeoutMs must be a duration'],
  ['queue.wait(job.id, { timeoutMs: true })', 'invalid-value', 'timeoutMs must be a duration, not a boolean'],
  ['queue.wait(job.id, { timeout: 1, timeoutMs: 1 })', 'usage', 'give only one of them'],
  ['queue.wait(job.id, { timeout_ms: 1 })', 'usage', "did you mean 'timeoutMs'?"],
  ['queue.wait(job.id, { signal: {} })', 'invalid-value', 'signal must be an AbortSignal, not an object'],
  ['queue.logs(job)', 'invalid-value', 'the job id must be a string, not an object'],
  ["queue.logs('nope')", 'job-not-found', "there is no job 'nope'"],
  ['queue.logs(job.id, { attempt: 0 })', 'invalid-value', 'attempt must be a whole number'],
  ['queue.logs(job.id, { attempt: 7 })', 'attempt-not-found', 'it has not run yet'],
  ["queue.logs(job.id, { stream: 'both' })", 'invalid-value', "stream must be stdout or stderr, not 'both'"],
  ["queue.logs(job.id, { stream: 'stderr' })", 'wrong-state', 'without --split-output'],
  ['queue.logs(job.id, { signal: AbortSignal.abort() })', 'usage', 'only with follow: true'],
  ["first(queue.logs('nope', { follow: true }))", 'job-not-found', "there is no job 'nope'"],
  ['first(queue.logs(job.id, { follow: true, line: 5 }))', 'usage', "did you mean 'lines'?"],
  ["queue.attempts('nope')", 'job-not-found', "there is no job 'nope'"],
  ["first(queue.events({ after: 'x' }))", 'invalid-value', 'after must be a whole number'],
  ["queue.queues.set('mail', { concurency: 2 })", 'usage', "did you mean 'concurrency'?"],
  ["queue.queues.pause('')", 'invalid-value', 'the name of the queue must not be empty'],
  ['queue.schedules.add()', 'invalid-value', 'the name of the schedule must be a string, not undefined'],
  [
    "queue.schedules.add({ name: 'n', every: 60, job: 'true', overlaps: 'skip' })",
    'usage',
    "did you mean 'overlap'?",
  ],
  ['queue.schedules.run(5)', 'invalid-value', 'the name of the schedule must be a string'],
  ['queue.enqueue()', 'invalid-job', 'a job must be a JSON object, not undefined'],
  [
    "queue.enqueue({ command: 'true', run_at: new Date(NaN) })",
    'invalid-time',
    "invalid time 'Invalid Date'",
  ],
  ['queue.close({ force: true, leave: true })', 'usage', 'use force or leave, not both'],
  ["queue.close({ timeout: 'soon' })", 'invalid-duration', "timeout: invalid duration 'soon'"],
  ['queue.close({ forse: true })', 'usage', "did you mean 'force'?"],
];

const REFUSED_PROGRAM = `
import { openQueue, QueueError } from 'queuectl';
const queue = await openQueue({ db: process.argv.at(-1) });
const job = await queue.enqueue({ id: 'job', command: 'true', delay: '1h' });
const first = (iterable) => iterable[Symbol.asyncIterator]().next();
const errors = [];
const noteError = async (run) => {
  try {
    await run();
    errors.push('no error');
  } catch (error) {
    const known = error instanceof QueueError && error.stack.startsWith('QueueError: ');
    errors.push(known ? [error.code, error.message] : error.stack);
  }
};
${REFUSED_CALLS.map(([call]) => `await noteError(() => ${call});`).join('\n')}
const remaining = [await queue.counts(), (await queue.schedules.list()).length, (await queue.queues.list()).map(({ name }) => name)];
await queue.close();
console.log(JSON.stringify({ errors, remaining }));
`;

onEachRuntime('wrong input is refused with a QueueError and adds nothing', (runtime, db) => {
  const { errors, remaining } = printedBy(runtime, REFUSED_PROGRAM, db) as {
    errors: unknown[];
    remaining: unknown[];
  };
  for (const [i, [call, code, message]] of REFUSED_CALLS.entries())
    expect({ call, error: errors[i] }).toEqual({ call, error: [code, expect.stringContaining(message)] });
  const none = { processing: 0, completed: 0, failed: 0, dead: 0, cancelled: 0 };
  expect(remaining).toEqual([{ pending: 1, ...none }, 0, ['default']]);
});

const ACCEPTED_PROGRAM = `
import { openQueue } from 'queuectl';
const queue = await openQueue({ db: process.argv.at(-1), actor: undefined });
const at = new Date(Date.now() + 3_600_000);
const sparse = await queue.enqueue({ command: 'true', timeout: undefined, tags: undefined, run_at: at, name: 'n' });
const again = await queue.enqueue({ ...sparse, id: undefined, tags: { team: 'a' } });
const ids = async (options) => (await queue.list(options)).map(({ id }) => id);
const lists = [
  await ids({ name: 'n', limit: undefined }), await ids({ tags: { team: 'a' } }), await ids({ state: ['pending'], limit: 1 }),
  await ids({ older_than: '1h' }), await ids({ search: 'true' }), await ids({ where: 'attempts=0' }), await ids({ exit_code: 0 }),
];
await queue.queues.set('mail', { concurrency: 2, rate: undefined });
const paused = await queue.queues.pause('mail');
const worker = await queue.startWorker({ concurrency: '2', queues: ['*'], drain: undefined, onEvent: null });
await worker.stop();
await queue.close(undefined);
console.log(JSON.stringify({
  run_at: sparse.run_at === at.toISOString(), timeout: sparse.timeout_ms, again: [again.id !== sparse.id, again.run_at === sparse.run_at],
  lists: lists.map((list) => list.map((id) => (id === again.id ? 'again' : 'sparse'))), paused: paused.paused,
}));
`;

onEachRuntime('undefined options, Dates and list filters are accepted', (runtime, db) => {
  expect(printedBy(runtime, ACCEPTED_PROGRAM, db)).toEqual({
    run_at: true,
    timeout: null,
    again: [true, true],
    lists: [['again', 'sparse'], ['again'], ['again'], [], ['again', 'sparse'], ['again', 'sparse'], []],
    paused: true,
  });
});

const CLOSED_PROGRAM = `
import { openQueue, QueueError } from 'queuectl';
const queue = await openQueue({ db: process.argv.at(-1) });
await queue.enqueue({ id: 'job', command: 'true', delay: '1h' });
const errors = [];
const noteError = async (run) => {
  const error = await run().then(() => null, (thrown) => thrown);
  errors.push(error instanceof QueueError ? error.code + ': ' + error.message : String(error));
};
const first = (iterable) => iterable[Symbol.asyncIterator]().next();
const openEvents = first(queue.events());
const waits = [noteError(() => queue.wait('job')), noteError(() => first(queue.logs('job', { follow: true })))];
await queue.close();
await queue.close();
await Promise.all(waits);
for (const run of [
  () => queue.enqueue('true'), () => queue.get('job'), () => queue.list(), () => queue.counts(), () => queue.retry('job'),
  () => queue.wait('job'), () => queue.cancel('job'), () => queue.delete('job'), () => queue.hold('job'), () => queue.release('job'),
  () => queue.logs('job'), () => first(queue.logs('job', { follow: true })), () => queue.attempts('job'),
  () => first(queue.events()), () => first(queue.events({ after: 0 })), () => queue.startWorker(),
  () => queue.queues.list(), () => queue.queues.set('a', {}), () => queue.queues.pause('a'), () => queue.queues.resume('a'),
  () => queue.schedules.list(), () => queue.schedules.run('a'), () => queue.schedules.add({ name: 'a', every: 9, job: 'true' }),
]) await noteError(run);
console.log(JSON.stringify({ errors, ended: (await openEvents).done }));
`;

onEachRuntime('close() ends waiting calls, and a closed queue refuses further calls', (runtime, db) => {
  const { errors, ended } = printedBy(runtime, CLOSED_PROGRAM, db) as {
    errors: string[];
    ended: boolean;
  };
  expect(errors).toHaveLength(25);
  expect(errors.filter((one) => one !== 'wrong-state: the queue is closed')).toEqual([]);
  expect(ended).toBe(true);
});
