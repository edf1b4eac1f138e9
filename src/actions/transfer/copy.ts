import { QueueError } from '../../core/errors.ts';
import { queueOf } from '../../core/schedules/schedule.ts';
import { countOf } from '../../core/text/words.ts';
import { createTemporaryText, type TextFile } from '../../files/text-file.ts';
import { thisHost } from '../../state/host.ts';
import type { App } from '../app.ts';
import { countJobs } from '../jobs/jobs.ts';
import { watchChanges } from '../jobs/wait.ts';
import { liveProcessIds, presence } from '../workers/workers.ts';
import { throwIfJobsRun } from './backup.ts';
import { exportTo } from './export.ts';
import { importLines } from './import.ts';

/** The name under which a copy pauses queues. The pauses under this name are not copied. */
const PAUSED_BY = 'db copy';
/** The name under which output files are counted among the rows. */
const FILES = 'output file';

/** The queue that is copied, or the one that gets the copy. `name` names it in messages, without a password. */
export interface CopySide {
  app: App;
  name: string;
}

export interface StoreCopyOptions {
  /** Pauses the queues of the source, and waits for its running jobs, instead of refusing while workers run. */
  pause: boolean;
  /** Opens the target, and may create it. Is called after the source was checked. */
  openTarget(): Promise<CopySide>;
  /** Is called before the queues are paused. */
  onPause(): void;
  /** Is called often. Most calls need no text. */
  onProgress(text: () => string): void;
}

/**
 * Copies the whole queue to an empty store: exports it to a temporary file, and imports that file. The import is one transaction, so an
 * interrupted copy leaves the target empty, and can be started again.
 */
export async function copyStore(source: CopySide, options: StoreCopyOptions) {
  const { pause, onProgress } = options;
  if (!pause) await refuseWorkers(source);
  const target = await options.openTarget();
  await refuseContents(source, target);
  if (pause) {
    options.onPause();
    await pauseUntilIdle(source.app, onProgress);
  }
  const text = createTemporaryText();
  try {
    const counts = await readSource(source.app, text.write, onProgress);
    if (pause) await throwIfJobsStarted(source, counts.lost_jobs);
    else await refuseWorkers(source);
    await writeTarget(target, text.read(), counts.rows, onProgress);
    return { from: source.name, to: target.name, jobs: counts.rows.job ?? 0, ...counts };
  } finally {
    text.close();
  }
}

export type Copy = Awaited<ReturnType<typeof copyStore>>;

/** Throws if workers run, or if a job still runs without one. Such a job would run once more in the copy. */
async function refuseWorkers({ app, name }: CopySide): Promise<void> {
  const ids = await liveProcessIds(app);
  if (ids.length > 0)
    throw new QueueError(
      'wrong-state',
      `${countOf(ids.length, 'worker')} of ${name} ${ids.length === 1 ? 'is' : 'are'} running (${ids.join(', ')})`,
      'stop them with queuectl worker stop. To pause the queues and copy after the running jobs have ended: add --pause',
    );
  await throwIfLeftRunning(app);
}

/** Throws if a job still runs whose worker is gone: on this host, or on another one, which keeps its lease for a while. */
async function throwIfLeftRunning(app: App): Promise<void> {
  await throwIfJobsRun(app.store, app.stateDirectory);
  for (const worker of await app.store.workers()) {
    const [job] = worker.currentJobs;
    if (job === undefined || !worker.hasLease) continue;
    if (presence(worker, thisHost(app.stateDirectory)) !== 'elsewhere') continue;
    throw new QueueError(
      'wrong-state',
      `job '${job}' may still be running on ${worker.hostname}`,
      'to let it finish, run queuectl worker start --drain there. Otherwise wait until its lease is over',
    );
  }
}

/** Throws if the target is the source itself, or has anything in it. Otherwise numbers would not stay the same. */
async function refuseContents(source: CopySide, { app, name }: CopySide): Promise<void> {
  const { store } = app;
  if (store.epoch === source.app.store.epoch)
    throw new QueueError('wrong-state', `${name} is the queue itself`, 'choose another target');
  const found = Object.entries({
    schedules: (await store.schedules()).length,
    settings: (await store.settings()).size,
    queues: (await store.queues()).length,
    events: await store.lastEventNumber(),
  }).find(([, count]) => count > 0)?.[0];
  const jobs = await countJobs(app, {});
  if (jobs === 0 && found === undefined) return;
  throw new QueueError(
    'wrong-state',
    `${name} already has ${jobs > 0 ? countOf(jobs) : found}`,
    'use a new file, or another schema in the URL (?schema=NAME). To add the jobs to that queue: queuectl export and queuectl import',
  );
}

/** Pauses all queues that are not paused, and those that schedules will use. Returns how many it has paused. Running jobs continue. */
async function pauseQueues({ store, clock, wakeups }: App): Promise<number> {
  const queues = await store.queues();
  const open = new Set([...queues.map(({ name }) => name), ...(await store.schedules()).map(queueOf)]);
  for (const { name, pausedAt } of queues) if (pausedAt !== null) open.delete(name);
  for (const name of open) await store.setQueue(name, { paused: { at: clock.now(), by: PAUSED_BY } });
  if (open.size > 0) wakeups.wake();
  return open.size;
}

/** Pauses the queues, also those that appear meanwhile, and waits until no job runs. A job that no worker will finish is not waited for. */
async function pauseUntilIdle(app: App, onProgress: StoreCopyOptions['onProgress']): Promise<void> {
  const watch = watchChanges(app, { timeoutMs: null });
  try {
    for (;;) {
      await pauseQueues(app);
      const running = (await app.store.runningJobs()).length;
      if (running === 0) return;
      if ((await liveProcessIds(app)).length === 0) return await throwIfLeftRunning(app);
      onProgress(() => `waiting for running jobs to end: ${running}`);
      await watch.next();
    }
  } finally {
    watch.close();
  }
}

/** Throws if a queue was not paused while the source was read, or if a worker runs a job that was read as running. */
async function throwIfJobsStarted({ app, name }: CopySide, runningJobs: number): Promise<void> {
  const isPaused = (await pauseQueues(app)) === 0;
  if (isPaused && (runningJobs === 0 || (await liveProcessIds(app)).length === 0)) return;
  throw new QueueError(
    'wrong-state',
    `jobs of ${name} could start meanwhile, so nothing was copied`,
    'run this command again',
  );
}

/** Passes the source to `write`, and counts it. */
async function readSource(
  app: App,
  write: (text: string) => void,
  onProgress: StoreCopyOptions['onProgress'],
) {
  const rows: Record<string, number> = {};
  const [files, attemptsWithFile] = [new Set<string>(), new Set<number>()];
  let [total, withOutput, lost_jobs, paused_queues] = [0, 0, 0, 0];
  await exportTo(app, write, {
    onRow({ table, row }) {
      rows[table] = (rows[table] ?? 0) + 1;
      total++;
      onProgress(() => `reading row ${total}`);
      if (table === 'job' && row.phase === 'running') lost_jobs++;
      if (table === 'attempt' && row.finished_at !== null && Number(row.output_bytes) > 0) withOutput++;
      if (table !== 'queue' || row.paused_by !== PAUSED_BY) return { table, row };
      paused_queues++;
      return { table, row: { ...row, paused_at: null, paused_by: null } };
    },
    onFile({ attempt, stream }) {
      attemptsWithFile.add(attempt);
      files.add(`${attempt} ${stream}`);
    },
  });
  return {
    /** The number of copied rows by table, and of output files. */
    rows: files.size > 0 ? { ...rows, [FILES]: files.size } : rows,
    /** The number of queues of the source that are paused because of a copy. */
    paused_queues,
    /** The number of jobs that were listed as running, although no worker ran. In the copy, their attempts count as lost. */
    lost_jobs,
    /** The number of attempts whose output is neither in the store nor in a file of this host. */
    missing_outputs: Math.max(0, withOutput - (rows.output ?? 0) - attemptsWithFile.size),
  };
}

/** Imports the text. Throws before the commit if the numbers of added rows are not those of the source. */
async function writeTarget(
  { app, name }: CopySide,
  text: TextFile,
  rows: Record<string, number>,
  onProgress: StoreCopyOptions['onProgress'],
): Promise<void> {
  const chunks = {
    *[Symbol.iterator]() {
      for (const chunk of text.chunks) {
        onProgress(() => `writing ${Math.floor((100 * text.bytesRead) / text.size)}%`);
        yield chunk;
      }
    },
  };
  try {
    await importLines(app, chunks, {
      onConflict: 'fail',
      beforeCommit({ added }) {
        for (const [table, expected] of Object.entries(rows))
          if (table !== FILES && added[table] !== expected)
            throw new QueueError(
              'store-corrupt',
              `the copy in ${name} differs from the original (${table}: ${expected} expected, ${added[table] ?? 0} found), so nothing was copied`,
              'check the original with queuectl db check. Then run this command again',
            );
      },
    });
  } catch (error) {
    if (!(error instanceof QueueError && error.code === 'import-conflict')) throw error;
    const what = `${name} was changed by somebody else meanwhile, so nothing was copied`;
    throw new QueueError('wrong-state', what, 'copy the queue to another place', { cause: error });
  }
}
