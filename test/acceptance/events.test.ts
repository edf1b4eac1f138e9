import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { startGatedJob } from '../support/gated-job.ts';
import {
  configure,
  enqueue,
  inSandbox,
  type Running,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
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

const parse = (text: string): EventJson[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const events = async (box: Sandbox, ...args: string[]): Promise<EventJson[]> =>
  parse((await box.run(['events', ...args])).stdout);

/** The kinds of the last event of a job. */
const FINAL = ['completed', 'dead', 'cancelled'];
const labelsOf = (seen: EventJson[]): string[] => seen.map((one) => `${one.kind} ${one.job_id ?? '-'}`);

/** Starts a follower and waits until it has printed the event of the job 'ready'. */
async function follower(box: Sandbox, ...args: string[]): Promise<Running> {
  const follows = box.start(['events', '-f', ...args]);
  await until(() => follows.stdout().includes('"ready"'), 'it follows');
  return follows;
}

async function untilCaughtUp(box: Sandbox, follows: Running): Promise<EventJson[]> {
  const [last] = await events(box, '-n', '1');
  return until(() => {
    const seen = parse(follows.stdout());
    return seen.at(-1)?.number === last!.number && seen;
  }, `the follower has seen event ${last!.number}`);
}

test.concurrent(
  'beside three workers and several enqueue commands a follower sees each job enqueued and ended once, in order',
  inSandbox(async (box) => {
    await configure(box, { 'backoff-base': '1', 'retry-delay': '0' });
    await box.run(['enqueue', '--id', 'ready', '--queue', 'nobody', 'true']);
    const follows = await follower(box);
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

    const seen = await untilCaughtUp(box, follows);
    const numbers = seen.map((one) => one.number);
    expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i));
    const jobs = (await box.json<{ id: string; state: string }[]>(['list'])).filter(
      (job) => job.id !== 'ready',
    );
    expect(jobs).toHaveLength(84);
    const of = (kinds: string[]): string[] =>
      seen.filter((one) => kinds.includes(one.kind) && one.job_id !== 'ready').map((one) => one.job_id!);
    expect(of(['enqueued']).sort()).toEqual(jobs.map((job) => job.id).sort());
    const ends = seen.filter((one) => FINAL.includes(one.kind)).map((one) => `${one.job_id} ${one.kind}`);
    expect(ends.sort()).toEqual(jobs.map((job) => `${job.id} ${job.state}`).sort());
    // The counters are the sums of the event log.
    const { jobs: states } = await box.json<{ jobs: Record<string, number> }>(['status']);
    for (const state of FINAL) expect(of([state])).toHaveLength(states[state]!);
    for (const { id } of jobs) {
      const kinds = seen.filter((one) => one.job_id === id).map((one) => one.kind);
      expect(kinds[0]).toBe('enqueued');
      expect(FINAL).toContain(kinds.at(-1)!);
    }
    expect(of(['failed'])).toHaveLength(4);
    follows.child.kill('SIGINT');
    expect(await follows.closed).toBe(0);
  }),
);

test.concurrent(
  'a follower that resumes after its last event id sees no gap and no repeat',
  inSandbox(async (box) => {
    await box.run(['enqueue', '--id', 'ready', 'true']);
    const first = await follower(box);
    await box.run(['enqueue', '--id', 'a', 'true']);
    const before = await untilCaughtUp(box, first);
    first.child.kill('SIGKILL');
    await first.exit;
    await box.run(['enqueue', JSON.stringify(['b', 'c', 'd'].map((id) => ({ id, command: 'true' })))]);
    const number = String(before.at(-1)!.number + 1);
    const second = box.start(['events', '-f', '--since', number]);
    await box.run(['hold', 'd']);
    const after = await untilCaughtUp(box, second);
    // The resumed follower starts in the middle of a batch that was enqueued together.
    expect(labelsOf(after)).toEqual(['enqueued c', 'enqueued d', 'held d']);
    expect(labelsOf(await events(box))).toEqual([...labelsOf(before), 'enqueued b', ...labelsOf(after)]);
    second.child.kill('SIGTERM');
    expect(await second.closed).toBe(143);
  }),
);

test.concurrent(
  'enqueuing a file of 5,000 jobs records 5,000 events in order',
  inSandbox(async (box) => {
    await box.run(['enqueue', '--id', 'ready', 'true']);
    const follows = await follower(box);
    const stdin = Array.from({ length: 5000 }, (_, i) => `echo ${i}`).join('\n');
    const ids = (await box.run(['enqueue', '--file', '-', '--queue', 'bulk'], { stdin })).stdout
      .trim()
      .split('\n');
    expect(ids).toHaveLength(5000);
    const seen = await untilCaughtUp(box, follows);
    expect(seen.slice(1).map((one) => [one.kind, one.queue, one.job_id])).toEqual(
      ids.map((id) => ['enqueued', 'bulk', id]),
    );
    expect(await events(box, '-n', '3000', '--queue', 'bulk')).toEqual(seen.slice(-3000));
    expect(await events(box, '-n', '1', '--kind', 'Enqueued', '--queue', 'default')).toEqual(
      seen.slice(0, 1),
    );
  }),
);

test.concurrent(
  'every command that changes something wakes a follower and records its actor',
  inSandbox(async (box) => {
    await enqueue(box, 'ready', 'true', { queue: 'nobody' });
    const follows = await follower(box);
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
    const change = join(box.home, 'queue.db.d/changes/last');
    let last = statSync(change, { bigint: true }).mtimeNs;
    for (const command of commands) {
      const { code, stderr } = await box.run(command.split(' '), { env: { USER: 'ann' } });
      const touched = statSync(change, { bigint: true }).mtimeNs;
      expect({ command, code, stderr, woke: touched > last }).toEqual({
        command,
        code: 0,
        stderr: '',
        woke: true,
      });
      last = touched;
    }
    const seen = (await untilCaughtUp(box, follows)).slice(1);
    expect(seen.map((one) => one.kind)).toEqual([
      ...['enqueued', 'held', 'released', 'edited', 'cancelled', 'retried', 'deleted'],
      ...['queue-set', 'queue-paused', 'queue-resumed', 'setting-set', 'setting-unset'],
      ...['schedule-added', 'schedule-paused', 'schedule-resumed', 'enqueued', 'tick'],
      ...['schedule-removed', 'setting-set', 'cancelled', 'jobs-pruned'],
    ]);
    for (const one of seen) expect(one.actor).toMatch(/^ann@./);
    const paused = (await events(box, '--kind', 'queue-paused'))[0]!;
    expect(paused).toMatchObject({ queue: 'q', job_id: null });
  }),
);

test.concurrent(
  'cancelling a running job makes an event for the request and one for the end',
  inSandbox(async (box) => {
    await box.startWorkers();
    await startGatedJob(box, 'runs');
    expect((await box.run(['cancel', 'runs'])).code).toBe(0);
    const seen = await events(box, '--job', 'run');
    expect(labelsOf(seen)).toEqual(['enqueued runs', 'started runs', 'ending runs', 'cancelled runs']);
    expect(seen[2]).toMatchObject({ reason: 'cancelled', attempt: 1 });
    expect(seen[2]!.actor).toBe(seen[0]!.actor);
    expect(seen[3]!.actor).toBe(seen[1]!.actor);
  }),
);

test.concurrent(
  'a job whose worker was killed has one adopted event and ends once',
  inSandbox(async (box) => {
    await configure(box, { 'heartbeat-interval': '200ms' });
    await box.startWorkers();
    const job = await startGatedJob(box, 'runs');
    const [ready] = await events(box, '--kind', 'worker-ready');
    process.kill(ready!.pid as number, 'SIGKILL');
    await until(async () => (await events(box, '--kind', 'adopted')).length === 1, 'it was adopted');
    job.release();
    await untilState(box, 'runs', 'completed');
    const seen = await events(box, '--job', 'runs');
    expect(labelsOf(seen)).toEqual(['enqueued runs', 'started runs', 'adopted runs', 'completed runs']);
    expect(seen[2]!.actor).not.toBe(ready!.actor);
    const gone = await events(box, '--kind', 'worker-stopped');
    expect(gone.map((one) => [one.worker_id, one.actor])).toEqual([[ready!.actor, seen[2]!.actor]]);
  }),
);

test.concurrent(
  '--since takes an event number, a time or a duration, and --job finds events of a deleted job',
  inSandbox(async (box) => {
    await enqueue(box, 'a', 'true');
    await box.run(['delete', 'a']);
    expect(labelsOf(await events(box, '--job', 'a'))).toEqual(['enqueued a', 'deleted a']);
    const [first] = await events(box);
    expect(await events(box, '--since', first!.at)).toHaveLength(2);
    expect(await events(box, '--since', '1h')).toHaveLength(2);
    expect(await events(box, '--since', '2099-01-01T00:00Z')).toHaveLength(0);
    expect(labelsOf(await events(box, '--since', '1'))).toEqual(['deleted a']);
    expect(await events(box, '-n', '0')).toEqual([]);
  }),
);

test.concurrent(
  'on a terminal events are aligned, control characters are escaped, and Ctrl-C ends the follower without an error',
  inSandbox(async (box) => {
    await enqueue(box, 'a', 'true');
    await box.run(['config', 'set', 'on-dead', 'echo \x1b[31mred\x07 done']);
    const follows = onTerminal(box, ['events', '-f'], 24, 200);
    await until(() => follows.output().includes('on-dead'), 'it shows what was there');
    await box.run(['hold', 'a']);
    await until(() => follows.output().includes(' held '), 'it shows what happens');
    // Ctrl-C is sent once, because a second one would end the command with an error.
    follows.interrupt();
    expect(await follows.closed).toBe(0);
    const shown = follows.output();
    expect(shown).toContain('value="echo \\x1b[31mred\\x07 done"');
    expect(shown.replace('^C', '')).not.toMatch(/\x1b\[31m|\x07|error|continue/);
    const lines = shown.split(/\r?\n/).filter((line) => /Z {2}/.test(line));
    expect(lines.map((line) => line.slice(26).split(/ +/)[0])).toEqual(['enqueued', 'setting-set', 'held']);
    expect(new Set(lines.map((line) => line.slice(26).search(/ (a|-) /))).size).toBe(1);
  }),
);

test.concurrent(
  'a follower whose reader has gone ends without an error at the next event',
  inSandbox(async (box) => {
    await enqueue(box, 'a', 'true');
    const follows = box.start(['events', '-f']);
    await until(() => follows.stdout().includes('"a"'), 'it follows');
    follows.child.stdout!.destroy();
    await once(follows.child.stdout!, 'close');
    await box.run(['hold', 'a']);
    expect(await follows.exit).toBe(0);
    expect(follows.output()).not.toContain('error');
  }),
);

test.concurrent(
  'invalid arguments of events are refused',
  inSandbox(async (box) => {
    expectRefusal(await box.run(['events', '--kind', 'complete']), 2, /did you mean 'completed'/);
    expectRefusal(await box.run(['events', '--since', 'yesterday']), 2, /--since/);
    expectRefusal(await box.run(['events', '-n', '-1']), 2, /lines/);
    expectRefusal(await box.run(['events', 'job1']), 2, /events/);
    expectRefusal(await box.run(['events', '--job', '@last']), 3, /no job/);
  }),
);
