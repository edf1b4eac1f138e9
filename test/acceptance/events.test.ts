import { expect } from 'bun:test';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { startGatedJob } from '../support/gated-job.ts';
import { configure, enqueue, type Running, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

interface EventJson {
  number: number;
  at: string;
  kind: string;
  actor: string | null;
  job_id: string | null;
  queue: string | null;
  attempt: number | null;
  [detail: string]: unknown;
}

const parseEvents = (text: string): EventJson[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const readEvents = async (box: Sandbox, ...args: string[]): Promise<EventJson[]> =>
  parseEvents((await box.run(['events', ...args])).stdout);

/** The kinds of events that end a job. */
const FINAL_KINDS = ['completed', 'dead', 'cancelled'];
const labelsOf = (seen: EventJson[]): string[] => seen.map((event) => `${event.kind} ${event.job_id ?? '-'}`);

/** Starts a follower and waits until it has printed the event of the job 'ready'. */
async function startFollower(box: Sandbox, ...args: string[]): Promise<Running> {
  const follower = box.start(['events', '-f', ...args]);
  await until(() => follower.stdout().includes('"ready"'), 'the follower prints events');
  return follower;
}

/** Waits until the follower has printed the newest event, and returns all events that it has printed. */
async function untilCaughtUp(box: Sandbox, follower: Running): Promise<EventJson[]> {
  const [last] = await readEvents(box, '-n', '1');
  return until(() => {
    const seen = parseEvents(follower.stdout());
    return seen.at(-1)?.number === last!.number && seen;
  }, `the follower has seen event ${last!.number}`);
}

test('while three workers run and several commands enqueue, a follower sees each job enqueued and ended once, in order', async (box) => {
  await configure(box, { 'backoff-base': '1', 'retry-delay': '0' });
  await box.run(['enqueue', '--id', 'ready', '--queue', 'nobody', 'true']);
  const follower = await startFollower(box);
  const workers = await box.startWorkers('--count', '3', '--concurrency', '2', '--queue', 'default');
  const adding: Promise<unknown>[] = [];
  for (let i = 0; i < 4; i++) {
    const jobs = Array.from({ length: 15 }, (_, j) => ({ id: `bulk${i}-${j}`, command: 'true' }));
    adding.push(box.run(['enqueue', JSON.stringify(jobs)]));
    for (let j = 0; j < 4; j++) adding.push(box.run(['enqueue', '--id', `one${i}-${j}`, 'true']));
    adding.push(box.run(['enqueue', '--id', `bad${i}`, '--max-retries', '2', 'exit 1']));
    adding.push(box.run(['enqueue', '--id', `later${i}`, '--delay', '1h', 'true']));
  }
  await Promise.all(adding);
  await box.run(['cancel', 'later0', 'later1', 'later2', 'later3']);
  await box.run(['wait', '--queue', 'default', '--state', 'pending,running,failed']);
  workers.child.kill('SIGTERM');
  expect(await workers.exit).toBe(0);

  const seen = await untilCaughtUp(box, follower);
  const numbers = seen.map((event) => event.number);
  expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i));
  const jobs = (await box.json<{ id: string; state: string }[]>(['list'])).filter(
    (job) => job.id !== 'ready',
  );
  expect(jobs).toHaveLength(84);
  const jobIdsOf = (kinds: string[]): string[] =>
    seen
      .filter((event) => kinds.includes(event.kind) && event.job_id !== 'ready')
      .map((event) => event.job_id!);
  expect(jobIdsOf(['enqueued']).sort()).toEqual(jobs.map((job) => job.id).sort());
  const ends = seen
    .filter((event) => FINAL_KINDS.includes(event.kind))
    .map((event) => `${event.job_id} ${event.kind}`);
  expect(ends.sort()).toEqual(jobs.map((job) => `${job.id} ${job.state}`).sort());
  // The counters of status match the events.
  const { jobs: states } = await box.json<{ jobs: Record<string, number> }>(['status']);
  for (const state of FINAL_KINDS) expect(jobIdsOf([state])).toHaveLength(states[state]!);
  for (const { id } of jobs) {
    const kinds = seen.filter((event) => event.job_id === id).map((event) => event.kind);
    expect(kinds[0]).toBe('enqueued');
    expect(FINAL_KINDS).toContain(kinds.at(-1)!);
  }
  expect(jobIdsOf(['failed'])).toHaveLength(4);
  follower.child.kill('SIGINT');
  expect(await follower.closed).toBe(0);
});

test('a follower that starts with --since in the middle of a batch sees every later event once', async (box) => {
  await box.run(['enqueue', '--id', 'ready', 'true']);
  const first = await startFollower(box);
  await box.run(['enqueue', '--id', 'a', 'true']);
  const seenBefore = await untilCaughtUp(box, first);
  first.child.kill('SIGKILL');
  await first.exit;
  await box.run(['enqueue', JSON.stringify(['b', 'c', 'd'].map((id) => ({ id, command: 'true' })))]);
  // --since prints the events after this one, which is the event of job b.
  const numberOfB = String(seenBefore.at(-1)!.number + 1);
  const second = box.start(['events', '-f', '--since', numberOfB]);
  await box.run(['hold', 'd']);
  const seenAfter = await untilCaughtUp(box, second);
  expect(labelsOf(seenAfter)).toEqual(['enqueued c', 'enqueued d', 'held d']);
  expect(labelsOf(await readEvents(box))).toEqual([
    ...labelsOf(seenBefore),
    'enqueued b',
    ...labelsOf(seenAfter),
  ]);
  second.child.kill('SIGTERM');
  expect(await second.closed).toBe(143);
});

test('enqueuing a file of 5,000 jobs records 5,000 events in order', async (box) => {
  await box.run(['enqueue', '--id', 'ready', 'true']);
  const follower = await startFollower(box);
  const stdin = Array.from({ length: 5000 }, (_, i) => `echo ${i}`).join('\n');
  const ids = (await box.run(['enqueue', '--file', '-', '--queue', 'bulk'], { stdin })).stdout
    .trim()
    .split('\n');
  expect(ids).toHaveLength(5000);
  const seen = await untilCaughtUp(box, follower);
  expect(seen.slice(1).map((event) => [event.kind, event.queue, event.job_id])).toEqual(
    ids.map((id) => ['enqueued', 'bulk', id]),
  );
  expect(await readEvents(box, '-n', '3000', '--queue', 'bulk')).toEqual(seen.slice(-3000));
  expect(await readEvents(box, '-n', '1', '--kind', 'Enqueued', '--queue', 'default')).toEqual(
    seen.slice(0, 1),
  );
});

test('commands that change something wake followers and record their actor', async (box) => {
  await enqueue(box, 'ready', 'true', { queue: 'nobody' });
  const follower = await startFollower(box);
  const commands = [
    ...[
      'enqueue --id a true',
      'hold a',
      'release a',
      'edit a --priority 5',
      'cancel a',
      'retry a',
      'delete a',
    ],
    ...[
      'queue set q --concurrency 2',
      'queue pause q',
      'queue resume q',
      'config set lease 1m',
      'config unset lease',
    ],
    ...['schedule add s --every 1h -- true', 'schedule pause s', 'schedule resume s', 'schedule run s'],
    ...['schedule remove s', 'config set keep-cancelled 0', 'cancel --queue default --yes', 'prune'],
  ];
  // Followers watch this file.
  const changeFile = join(box.stateDirectory(), 'changes/last');
  let lastTouched = statSync(changeFile, { bigint: true }).mtimeNs;
  for (const command of commands) {
    const { code, stderr } = await box.run(command.split(' '), { env: { USER: 'ann' } });
    const touched = statSync(changeFile, { bigint: true }).mtimeNs;
    expect({ command, code, stderr, woke: touched > lastTouched }).toEqual({
      command,
      code: 0,
      stderr: '',
      woke: true,
    });
    lastTouched = touched;
  }
  const seen = (await untilCaughtUp(box, follower)).slice(1);
  expect(seen.map((event) => event.kind)).toEqual([
    ...['enqueued', 'held', 'released', 'edited', 'cancelled', 'retried', 'deleted'],
    ...['queue-set', 'queue-paused', 'queue-resumed', 'setting-set', 'setting-unset'],
    ...['schedule-added', 'schedule-paused', 'schedule-resumed', 'enqueued', 'tick'],
    ...['schedule-removed', 'setting-set', 'cancelled', 'jobs-pruned'],
  ]);
  for (const event of seen) expect(event.actor).toMatch(/^ann@./);
  const paused = (await readEvents(box, '--kind', 'queue-paused'))[0]!;
  expect(paused).toMatchObject({ queue: 'q', job_id: null });
});

test('cancelling a running job records an event for the request and one for the end', async (box) => {
  await box.startWorkers();
  await startGatedJob(box, 'runs');
  expect((await box.run(['cancel', 'runs'])).code).toBe(0);
  const seen = await readEvents(box, '--job', 'run');
  expect(labelsOf(seen)).toEqual(['enqueued runs', 'started runs', 'ending runs', 'cancelled runs']);
  expect(seen[2]).toMatchObject({ reason: 'cancelled', attempt: 1 });
  expect(seen[2]!.actor).toBe(seen[0]!.actor);
  expect(seen[3]!.actor).toBe(seen[1]!.actor);
});

test('a job whose worker was killed has one adopted event and ends once', async (box) => {
  await configure(box, { 'heartbeat-interval': '200ms' });
  await box.startWorkers();
  const job = await startGatedJob(box, 'runs');
  const [ready] = await readEvents(box, '--kind', 'worker-ready');
  process.kill(ready!.pid as number, 'SIGKILL');
  await until(async () => (await readEvents(box, '--kind', 'adopted')).length === 1, 'the job was adopted');
  job.release();
  await untilState(box, 'runs', 'completed');
  const seen = await readEvents(box, '--job', 'runs');
  expect(labelsOf(seen)).toEqual(['enqueued runs', 'started runs', 'adopted runs', 'completed runs']);
  expect(seen[2]!.actor).not.toBe(ready!.actor);
  const stopped = await readEvents(box, '--kind', 'worker-stopped');
  expect(stopped.map((event) => [event.worker_id, event.actor])).toEqual([[ready!.actor, seen[2]!.actor]]);
});

test('--since takes an event number, a time or a duration, and --job finds events of a deleted job', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.run(['delete', 'a']);
  expect(labelsOf(await readEvents(box, '--job', 'a'))).toEqual(['enqueued a', 'deleted a']);
  const [first] = await readEvents(box);
  expect(await readEvents(box, '--since', first!.at)).toHaveLength(2);
  expect(await readEvents(box, '--since', '1h')).toHaveLength(2);
  expect(await readEvents(box, '--since', '2099-01-01T00:00Z')).toHaveLength(0);
  expect(labelsOf(await readEvents(box, '--since', '1'))).toEqual(['deleted a']);
  expect(await readEvents(box, '-n', '0')).toEqual([]);
});

test('on a terminal events are aligned, control characters are escaped, and Ctrl-C ends the follower without an error', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.run(['config', 'set', 'on-dead', 'echo \x1b[31mred\x07 done']);
  const follower = onTerminal(box, ['events', '-f'], 24, 200);
  await until(() => follower.output().includes('on-dead'), 'the follower shows the earlier events');
  await box.run(['hold', 'a']);
  await until(() => follower.output().includes(' held '), 'the follower shows the new event');
  // Ctrl-C is sent once, because a second one would end the command with an error.
  follower.interrupt();
  expect(await follower.closed).toBe(0);
  const shown = follower.output();
  expect(shown).toContain('value="echo \\x1b[31mred\\x07 done"');
  expect(shown.replace('^C', '')).not.toMatch(/\x1b\[31m|\x07|error|continue/);
  const lines = shown.split(/\r?\n/).filter((line) => /Z {2}/.test(line));
  expect(lines.map((line) => line.slice(26).split(/ +/)[0])).toEqual(['enqueued', 'setting-set', 'held']);
  expect(new Set(lines.map((line) => line.slice(26).search(/ (a|-) /))).size).toBe(1);
});

test('a follower whose reader has gone ends without an error at the next event', async (box) => {
  await enqueue(box, 'a', 'true');
  const follower = box.start(['events', '-f']);
  await until(() => follower.stdout().includes('"a"'), 'the follower prints events');
  follower.child.stdout!.destroy();
  await once(follower.child.stdout!, 'close');
  await box.run(['hold', 'a']);
  expect(await follower.exit).toBe(0);
  expect(follower.output()).not.toContain('error');
});

test('invalid arguments of events are refused', async (box) => {
  expectRefusal(await box.run(['events', '--kind', 'complete']), 2, /did you mean 'completed'/);
  expectRefusal(await box.run(['events', '--since', 'yesterday']), 2, /--since/);
  expectRefusal(await box.run(['events', '-n', '-1']), 2, /lines/);
  expectRefusal(await box.run(['events', 'job1']), 2, /events/);
  expectRefusal(await box.run(['events', '--job', '@last']), 3, /no job/);
});
