import { expect, test } from 'bun:test';
import type { ClaimedJob } from '../../src/core/jobs/job.ts';
import {
  attemptEndedEvent,
  attemptEndingEvent,
  EVENT_KINDS,
  tickEvent,
  toEventObject,
  toWorkerEventObject,
  type WorkerEvent,
} from '../../src/core/rules/events.ts';

const NOW = Date.UTC(2030, 0, 15, 12);
const job = { id: 'job', queue: 'mail', ordinal: 2 } as ClaimedJob;
const workerId = 'w1';
const object = (event: WorkerEvent) => toWorkerEventObject(event, workerId, NOW);

const ABOUT_JOB = { job_id: 'job', queue: 'mail', attempt: 2 };
const NO_JOB = { job_id: null, queue: null, attempt: null };

test.each([
  [
    { type: 'worker-ready', workerId, pid: 7, concurrency: 2, queues: null },
    { kind: 'worker-ready', worker_id: workerId, pid: 7, concurrency: 2, queues: ['*'] },
  ],
  [
    { type: 'worker-draining', workerId, running: 1, why: 'stop()' },
    { kind: 'worker-draining', worker_id: workerId, running: 1, why: 'stop()' },
  ],
  [
    { type: 'worker-stopped', workerId, left: null },
    { kind: 'worker-stopped', worker_id: workerId, left: null },
  ],
  [
    { type: 'worker-error', workerId, message: 'no' },
    { kind: 'worker-error', worker_id: workerId, error: 'no' },
  ],
  [
    { type: 'jobs-pruned', workerId, jobs: 3, bytes: 9 },
    { kind: 'jobs-pruned', worker_id: workerId, jobs: 3, bytes: 9 },
  ],
] as [WorkerEvent, object][])('the event %j becomes an object without a job', (event, expected) => {
  const common = { number: null, at: '2030-01-15T12:00:00.000Z', actor: workerId };
  expect(object(event)).toEqual({ ...common, ...NO_JOB, ...expected } as never);
});

test.each([
  [
    { type: 'attempt-started', job, pid: 7 },
    { kind: 'started', pid: 7 },
  ],
  [{ type: 'attempt-adopted', job }, { kind: 'adopted' }],
  [{ type: 'attempt-unseen', job }, { kind: 'unseen' }],
  [
    { type: 'attempt-ending', job, reason: 'timeout' },
    { kind: 'ending', reason: 'timeout' },
  ],
  [{ type: 'claim-lost', job }, { kind: 'claim-lost' }],
] as [WorkerEvent, object][])('the event %j becomes an object with its job', (event, expected) => {
  expect(object(event)).toMatchObject({ number: null, actor: workerId, ...ABOUT_JOB, ...expected });
});

test('the end of an attempt has the kind and the details of its stored event', () => {
  const outcome = { why: 'exited', code: 3 } as const;
  const counts = { attempts: 1, crashes: 0 };
  const transitions = [
    { to: 'failed', nextRunAt: NOW + 1000, ...counts },
    { to: 'released', ...counts },
    { to: 'dead', ...counts },
  ] as const;
  for (const transition of transitions) {
    const event = { type: 'attempt-settled', job, outcome, transition, durationMs: 5, error: 'e' } as const;
    const { kind, detail = {} } = attemptEndedEvent({ transition, why: 'exited', exitCode: 3, error: 'e' });
    const stored = {
      number: 1,
      at: NOW,
      kind,
      actor: workerId,
      jobId: 'job',
      queue: 'mail',
      attempt: 2,
      detail,
    };
    expect(EVENT_KINDS).toContain(kind);
    expect(object(event)).toEqual({ ...toEventObject(stored), number: null, duration_ms: 5 });
  }
});

test('a tick and a request to end an attempt have the details of their stored events', () => {
  const tick = object({ type: 'tick', schedule: 's', at: NOW, jobId: 'job', waits: false });
  expect(tick).toMatchObject({ kind: 'tick', job_id: 'job', ...tickEvent('s', NOW, false, false).detail });
  const ending = object({ type: 'attempt-ending', job, reason: 'cancelled' });
  expect(ending).toMatchObject({ kind: 'ending', ...attemptEndingEvent('cancelled').detail });
});
