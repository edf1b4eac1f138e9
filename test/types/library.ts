/**
 * Uses the types of the library as a program does. `npm run check` compiles this file, and test/acceptance/library-types.test.ts
 * compiles it against the built package. It is never run.
 */
import {
  type ActionResult,
  type AttemptObject,
  type EnqueueInput,
  type ErrorCode,
  type EventKind,
  type EventObject,
  type GoneJob,
  type JobObject,
  type NewSchedule,
  type OpenOptions,
  openQueue,
  type Queue,
  type QueueError,
  type QueueObject,
  type QueueWorker,
  type ScheduleObject,
  type SqlClient,
  type State,
  type StopOptions,
  type WorkerEvent,
  type WorkerStart,
} from '../../src/index.ts';

/** Is the type `true` if both types are the same, and `false` otherwise. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only if the type is `true`. */
function check<_ extends true>(): void {}

check<Same<State, 'pending' | 'processing' | 'completed' | 'failed' | 'dead' | 'cancelled'>>();
check<Same<JobObject['state'], State>>();
check<Same<JobObject['name'], string | null>>();
check<Same<JobObject['exit_code'], number | null>>();
check<Same<JobObject['tags'], Record<string, string>>>();
check<Same<AttemptObject['exit_code'], number | null>>();
check<Same<QueueObject['jobs'], Record<State, number>>>();
check<Same<ScheduleObject['next_runs'], string[]>>();
check<Same<QueueError['code'], ErrorCode>>();
check<Same<EventObject['kind'], EventKind>>();
check<Same<WorkerEvent['job_id'], EventObject['job_id']>>();
check<Same<WorkerEvent['at'], EventObject['at']>>();

export async function enqueueJobs(queue: Queue, seconds: number | undefined): Promise<void> {
  const job: EnqueueInput = { command: 'true', name: 'report', timeout: seconds, run_at: new Date() };
  const one: JobObject = await queue.enqueue(job);
  const many: JobObject[] = await queue.enqueue([job, 'echo hello']);
  const again: JobObject = await queue.enqueue({ ...one, id: undefined });
  await queue.enqueue(again);
  await queue.enqueue({
    argv: ['true'],
    depends_on: [one.id, { id: many[0]!.id, on: 'any' }],
    priority: 'high',
  });
  // @ts-expect-error: there is no such field
  await queue.enqueue({ comand: 'true' });
  // @ts-expect-error: there is no such priority
  await queue.enqueue({ command: 'true', priority: 'asap' });
}

export async function readJobs(queue: Queue, signal: AbortSignal | undefined): Promise<unknown[]> {
  const text: string = await queue.logs('id');
  for await (const piece of queue.logs('id', { follow: true, signal })) piece.toUpperCase();
  const attempts: AttemptObject[] = await queue.attempts('id');
  const done: JobObject = await queue.wait('id', { timeout: '5m', signal });
  const listed: JobObject[] = await queue.list({
    state: ['dead', 'failed'],
    tags: { a: 'b' },
    limit: undefined,
  });
  for await (const event of queue.events({ after: 0, signal })) record(event);
  // @ts-expect-error: there is no such state
  await queue.list({ state: 'ded' });
  // @ts-expect-error: without `follow`, the output is one text and not a stream
  for await (const piece of queue.logs('id')) piece.toUpperCase();
  return [text, attempts, done, listed];
}

/** Accepts both the events of the event log and those of a worker. */
function record(event: EventObject | WorkerEvent): string {
  return `${event.number ?? '-'} ${event.at} ${event.kind} ${event.job_id} ${event.attempt}`;
}

export async function runWorker(options: OpenOptions, start: WorkerStart, stop: StopOptions): Promise<void> {
  await using queue = await openQueue(options);
  await using worker: QueueWorker = await queue.startWorker({ ...start, onEvent: record });
  const acted: ActionResult = await queue.hold('id');
  await worker.stop(stop);
  await queue.close({ timeout: '30s', leave: acted.changed.length > 0 });
  // @ts-expect-error: there is no such option
  await queue.close({ forse: true });
  // @ts-expect-error: the concurrency is a number
  await queue.startWorker({ concurrency: '3x' });
}

export async function addSchedule({ queues, schedules }: Queue, every: string | undefined): Promise<void> {
  const schedule: NewSchedule = { name: 'n', every, job: { command: 'true' }, overlap: 'skip' };
  const added: ScheduleObject = await schedules.add(schedule);
  const changed: QueueObject = await queues.set(added.queue, { concurrency: 2, rate: undefined });
  await queues.pause(changed.name);
}

export async function enqueueInTransaction(queue: Queue, client: SqlClient): Promise<void> {
  const added: JobObject = await queue.enqueue('true', { client });
  const [first]: JobObject[] = await queue.enqueue([{ command: 'true' }], { client });
  const repeated = await queue.enqueue('true', { client, idempotency_key: 'key' });
  check<Same<typeof repeated, JobObject | GoneJob>>();
  record({ ...added, ...first } as never);
  // @ts-expect-error: a URL is not a client
  await queue.enqueue('true', { client: 'postgres://' });
}
