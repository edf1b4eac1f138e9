/** How a program reads the output and the attempts of its jobs, and how it stops waiting. */
import { expect } from 'bun:test';
import { join } from 'node:path';
import { onEachRuntime, printedBy } from '../support/library.ts';

/**
 * The second attempt of `flaky` pauses in the middle of a character, until the program has read `two ` and created
 * `gate`, or until its directory is gone.
 */
const READING_PROGRAM = `
import { existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { openQueue } from 'queuectl';
const [db, gate] = process.argv.slice(-2);
const queue = await openQueue({ db });
const flaky = [
  'if [ $QUEUECTL_ATTEMPT = 1 ]; then echo one; exit 3; fi',
  'printf "two \\\\303"; while [ -e ' + dirname(gate) + ' ] && [ ! -e ' + gate + ' ]; do sleep 0.01; done; printf "\\\\244\\\\nend\\\\n"',
].join('; ');
await queue.enqueue({ id: 'flaky', command: flaky, backoff: 'fixed', retry_delay: 0 });
await queue.enqueue({ id: 'split', command: 'echo out; echo err >&2', split_output: true });
const beforeStart = [await queue.logs('flaky'), await queue.attempts('flaky')];
const followed = (async () => {
  let text = '';
  for await (const piece of queue.logs('flaky', { follow: true })) {
    text += piece;
    if (text.endsWith('two ')) writeFileSync(gate, '');
  }
  return text;
})();
const worker = await queue.startWorker({ concurrency: 2 });
const text = await followed;
const firstAttempt = [];
for await (const piece of queue.logs('flaky', { follow: true, attempt: 1 })) firstAttempt.push(piece);
await queue.wait('split');
const attempts = await queue.attempts('flaky');
console.log(JSON.stringify({
  beforeStart, text, firstAttempt, state: (await queue.get('flaky')).state,
  last: await queue.logs('flaky'), first: await queue.logs('flaky', { attempt: 1 }), tail: await queue.logs('flaky', { lines: 1 }),
  split: [await queue.logs('split'), await queue.logs('split', { stream: 'stdout' }), await queue.logs('split', { stream: 'stderr' })],
  attempts: attempts.map((one) => [one.attempt, one.outcome, one.exit_code, one.error, one.output_bytes, one.worker_id === worker.id,
    Date.parse(one.finished_at) >= Date.parse(one.started_at)]),
}));
await queue.close();
`;

onEachRuntime('a program reads the output and the attempts of its jobs', (runtime, db, directory) => {
  const files = [db, join(directory, 'gate')];
  expect(printedBy(runtime, READING_PROGRAM, ...files)).toEqual({
    beforeStart: ['', []],
    text: 'one\ntwo ä\nend\n',
    firstAttempt: ['one\n'],
    state: 'completed',
    last: 'two ä\nend\n',
    first: 'one\n',
    tail: 'end\n',
    split: ['out\nerr\n', 'out\n', 'err\n'],
    attempts: [
      [1, 'exited', 3, 'exit code 3: one', 4, true, true],
      [2, 'exited', 0, null, 11, true, true],
    ],
  });
});

const ABORTING_PROGRAM = `
import { openQueue } from 'queuectl';
const queue = await openQueue({ db: process.argv.at(-1) });
await queue.enqueue({ id: 'job', command: 'true', delay: '1h' });
const results = [];
const record = (promise) => promise.then((value) => results.push(value), (error) => results.push(error.name + ': ' + error.message));
const { promise: firstEvent, resolve: arrived } = Promise.withResolvers();
const collect = async (iterable) => {
  const seen = [];
  try {
    for await (const one of iterable) {
      seen.push(one.kind ?? one);
      arrived();
    }
    return seen;
  } catch (error) {
    return [...seen, error.name + ': ' + error.message];
  }
};
const controller = new AbortController();
const { signal } = controller;
const waits = [
  record(queue.wait('job', { signal })), record(collect(queue.events({ after: 0, signal }))),
  record(collect(queue.logs('job', { follow: true, signal }))), record(queue.wait('job', { signal: AbortSignal.timeout(20) })),
];
await Promise.all([waits[3], firstEvent]);
controller.abort(new Error('enough'));
await Promise.all(waits);
await record(queue.wait('job', { signal }));
await record(collect(queue.events({ after: 0, signal })));
await record(collect(queue.logs('job', { follow: true, signal })));
await record(queue.wait('job', { timeout: '10ms' }));
await record(queue.wait('job', { timeoutMs: 0 }));
const counts = await queue.counts();
await queue.close();
console.log(JSON.stringify({ results, pending: counts.pending }));
`;

onEachRuntime('abort signals end wait(), events() and logs(); timeouts end wait()', (runtime, db) => {
  const { results, pending } = printedBy(runtime, ABORTING_PROGRAM, db) as {
    results: unknown[];
    pending: number;
  };
  const timedOut = "QueueError: the wait timed out: job 'job' is still pending";
  expect(results[0]).toStartWith('TimeoutError: ');
  expect(results.slice(1, 4)).toContainEqual('Error: enough');
  expect(results.slice(1, 4)).toContainEqual(['enqueued', 'Error: enough']);
  expect(results.slice(1, 4)).toContainEqual(['Error: enough']);
  expect(results.slice(4)).toEqual([
    'Error: enough',
    ['Error: enough'],
    ['Error: enough'],
    timedOut,
    timedOut,
  ]);
  expect(pending).toBe(1);
});
