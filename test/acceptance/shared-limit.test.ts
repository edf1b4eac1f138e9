import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sendSignal, workersOf } from '../support/processes.ts';
import {
  configure,
  enqueue,
  inSandbox,
  type JobJson,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';

/** Starts pools of workers that share a limit. One pool serves only the queue `low`. */
const POOLS: Record<string, (box: Sandbox) => Promise<unknown>> = {
  'max-concurrent-jobs': async (box) => {
    await configure(box, { 'max-concurrent-jobs': '1' });
    await box.startWorkers('--count', '2', '--queue', 'low');
    await box.startWorkers('--count', '1', '--queue', 'urgent');
  },
  'limits of queues': async (box) => {
    for (const queue of ['low', 'urgent']) await box.run(['queue', 'set', queue, '--concurrency', '1']);
    await box.startWorkers('--count', '1', '--queue', 'low');
    await box.startWorkers('--count', '1');
  },
};
const LOW_JOBS = 300;
const URGENT_JOBS = 3;
/** The other worker gets the room after a moment. Meanwhile, this many less urgent jobs may start. */
const MOST_BEFORE = 20;
/** These take much longer than the few seconds for which room is left. */
const MOST_ARRIVALS = 300;

interface SeenEvent {
  kind: string;
  queue: string | null;
}

test.each(Object.keys(POOLS))('an urgent job of another pool starts soon under steady load: %s', (limit) =>
  inSandbox(async (box) => {
    const file = join(box.directory, 'jobs.jsonl');
    writeFileSync(file, `${JSON.stringify({ command: 'true', queue: 'low' })}\n`.repeat(LOW_JOBS));
    expect((await box.run(['enqueue', '--file', file])).code).toBe(0);
    await POOLS[limit]!(box);
    await until(
      async () => (await box.json<{ jobs: { completed: number } }>(['status'])).jobs.completed >= 5,
      'the load is steady',
    );
    for (let i = 0; i < URGENT_JOBS; i++) {
      await enqueue(box, `urgent-${i}`, 'true', { queue: 'urgent', priority: 9 });
      await untilState(box, `urgent-${i}`, 'completed');
    }
    const { stdout } = await box.run(['events', '--since', '0']);
    const events: SeenEvent[] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const urgent = events.flatMap(({ kind, queue }, at) => (queue === 'urgent' ? [{ kind, at }] : []));
    const times = (wanted: string): number[] =>
      urgent.filter(({ kind }) => kind === wanted).map(({ at }) => at);
    const startedAt = times('started');
    const before = times('enqueued').map(
      (at, i) =>
        events.slice(at, startedAt[i]).filter(({ kind, queue }) => kind === 'started' && queue === 'low')
          .length,
    );
    expect(before).toHaveLength(URGENT_JOBS);
    expect(Math.max(...before)).toBeLessThanOrEqual(MOST_BEFORE);
  })(),
);

test('a frozen worker gets no more room when ever more urgent jobs arrive for it', () =>
  inSandbox(async (box) => {
    await configure(box, { 'max-concurrent-jobs': '1', lease: '10m' });
    await box.startWorkers('--queue', 'urgent');
    const [frozen] = await workersOf(box);
    await box.startWorkers('--queue', 'low');
    sendSignal([frozen!.pid], 'SIGSTOP');
    await enqueue(box, 'urgent-0', 'true', { queue: 'urgent' });
    await enqueue(box, 'low', 'true', { queue: 'low', priority: -1 });
    // Each arrives within the time for which room is left. At some point, the low job has to start nevertheless.
    for (let i = 1; i < MOST_ARRIVALS; i++) {
      if ((await box.json<JobJson>(['show', 'low'])).state === 'completed') break;
      await enqueue(box, `urgent-${i}`, 'true', { queue: 'urgent', priority: i });
    }
    expect((await box.json<JobJson>(['show', 'low'])).state).toBe('completed');
    sendSignal([frozen!.pid], 'SIGCONT');
  })());
