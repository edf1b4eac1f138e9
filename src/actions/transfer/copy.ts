import { QueueError } from '../../core/errors.ts';
import { queueOf } from '../../core/schedules/schedule.ts';
import { countOf } from '../../core/text/words.ts';
import { toIso } from '../../core/time/time.ts';
import { createTemporaryText, type TemporaryText, type TextFile } from '../../files/text-file.ts';
import { thisHost } from '../../state/host.ts';
import { stateDirectory } from '../../state/state-directory.ts';
import type { ExportedRow, LoadCounts, OtherHostFiles } from '../../store/contract/care.ts';
import type { Store } from '../../store/store.ts';
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

/** The queue that is copied. */
export interface CopySource {
  app: App;
  /** Names the queue in messages, without a password. */
  name: string;
  /** The start of a command for this queue, for hints, such as `queuectl` or `queuectl --db PATH`. It contains no password. */
  command: string;
}

/** The queue that gets the copy. */
export interface CopyTarget {
  app: App;
  /** Names the queue in messages, without a password. */
  name: string;
}

export interface StoreCopyOptions {
  /** Pauses the queues of the source, and waits for its running jobs, instead of refusing while workers run. */
  pause: boolean;
  /** Opens the target, and may create it. Is called after the source was checked. */
  openTarget(): Promise<CopyTarget>;
  /** Is called when the copy begins, because the target is empty. */
  onStart(): void;
  /** Is called often. Most calls need no text. */
  onProgress(text: () => string): void;
}

export interface Copy {
  from: string;
  to: string;
  jobs: number;
  /** The number of copied rows by table, and of output files. */
  rows: Record<string, number>;
  /** The number of queues of the source that are paused because of a copy. */
  paused_queues: number;
  /** The number of jobs that were listed as running, although no worker ran. In the copy, their attempts count as lost. */
  lost_jobs: number;
  /** The number of attempts whose output file was not found on this host. */
  missing_outputs: number;
  /** The attempts of whose output only the beginning and the end were copied, by host. */
  partial_outputs: ReturnType<typeof countByHost>;
  /** True if an earlier run had copied everything, and nothing was left to do. */
  was_complete: boolean;
}

/**
 * Copies the whole queue to an empty store: exports it to a temporary file, and imports that file. The import is one transaction, so an
 * interrupted copy leaves the target empty, and can be started again.
 */
export async function copyStore(source: CopySource, options: StoreCopyOptions): Promise<Copy> {
  if (!options.pause) await refuseLiveSource(source);
  const target = await options.openTarget();
  const from = source.app.store;
  const names = { from: source.name, to: target.name };
  if (await isComplete(from, target)) {
    const jobs = await countJobs(target.app, {});
    const nothing = { rows: {}, lost_jobs: 0, missing_outputs: 0, partial_outputs: [] };
    return { ...names, jobs, ...nothing, paused_queues: await countPausedForCopy(from), was_complete: true };
  }
  options.onStart();
  if (options.pause) await pauseForCopy(source.app);
  const text = createTemporaryText();
  try {
    const { mark, ...counts } = await readSource(source, text, options);
    await writeTarget(target, text.read(), { rows: counts.rows, mark, source }, options.onProgress);
    const paused_queues = await countPausedForCopy(from);
    return { ...names, jobs: counts.rows.job ?? 0, ...counts, paused_queues, was_complete: false };
  } finally {
    text.close();
  }
}

/** Throws if workers run, or if a job still runs without one. Such a job would run once more in the copy. */
async function refuseLiveSource(source: CopySource): Promise<void> {
  const { app, name, command } = source;
  const ids = await liveProcessIds(app);
  if (ids.length > 0)
    throw new QueueError(
      'wrong-state',
      `${countOf(ids.length, 'worker')} of ${name} ${ids.length === 1 ? 'is' : 'are'} running (${ids.join(', ')})`,
      `to stop ${ids.length === 1 ? 'it' : 'them'}: ${command} worker stop. To pause the queues and copy after the running jobs have ended: add --pause`,
    );
  await throwIfLeftRunning(source);
}

/** Throws if a job still runs whose worker is gone: on this host, or on another one, which keeps its lease for a while. */
async function throwIfLeftRunning({ app, command }: CopySource): Promise<void> {
  await throwIfJobsRun(app.store, app.stateDirectory, `to let it finish: ${command} worker start --drain`);
  const workers = new Map((await app.store.workers()).map((worker) => [worker.id, worker]));
  for (const { id, workerId } of await app.store.runningJobs()) {
    const worker = workers.get(workerId ?? '');
    if (worker === undefined || !worker.hasLease) continue;
    if (presence(worker, thisHost(app.stateDirectory)) !== 'elsewhere') continue;
    throw new QueueError(
      'wrong-state',
      `job '${id}' may still be running on ${worker.hostname}`,
      `to let it finish, run ${command} worker start --drain there. Otherwise wait until its lease is over`,
    );
  }
}

const hasNoWorker = async (app: App): Promise<boolean> => (await liveProcessIds(app)).length === 0;

/**
 * Pauses all queues that are not paused, and creates those that schedules will use. Returns how many it has paused. Running jobs
 * continue.
 */
async function pauseForCopy(app: App): Promise<number> {
  const queues = await app.store.queues();
  const used = (await app.store.schedules()).map(queueOf);
  const paused = new Set(queues.filter(({ pausedAt }) => pausedAt !== null).map(({ name }) => name));
  const open = new Set([...queues.map(({ name }) => name), ...used]).difference(paused);
  for (const name of open) await app.store.setQueue(name, { paused: { at: app.clock.now(), by: PAUSED_BY } });
  if (open.size > 0) app.wakeups.wake();
  return open.size;
}

const countPausedForCopy = async (store: Store): Promise<number> =>
  (await store.queues()).filter((queue) => queue.pausedBy === PAUSED_BY).length;

/** Waits until no job runs. Calls `onWait` with the number of running jobs. A job that no worker will finish is not waited for. */
async function untilIdle(source: CopySource, onWait: (jobs: number) => void): Promise<void> {
  const { app } = source;
  const watch = watchChanges(app, { timeoutMs: null });
  try {
    for (;;) {
      const running = (await app.store.runningJobs()).length;
      if (running === 0) return;
      if (await hasNoWorker(app)) return throwIfLeftRunning(source);
      onWait(running);
      await watch.next();
    }
  } finally {
    watch.close();
  }
}

/** Writes the source to `text`, as of a moment at which no job ran. */
async function readSource(
  source: CopySource,
  text: TemporaryText,
  { pause, onProgress }: StoreCopyOptions,
): Promise<Counts & { mark: string }> {
  for (;;) {
    if (pause)
      await untilIdle(source, (jobs) => onProgress(() => `waiting for running jobs to end: ${jobs}`));
    text.clear();
    const mark = await markOf(source.app.store, source.app.clock.now());
    const counts = await readOnce(source.app, text, onProgress);
    // A worker may have started meanwhile, or have claimed a job just before its queue was paused. And a new queue is not paused.
    if (!pause) await refuseLiveSource(source);
    else if ((await pauseForCopy(source.app)) > 0) continue;
    if (!pause || counts.lost_jobs === 0 || (await hasNoWorker(source.app))) return { ...counts, mark };
  }
}

type Counts = Pick<Copy, 'rows' | 'lost_jobs' | 'missing_outputs' | 'partial_outputs'>;

/** Writes the source to `text` once. Counts what it writes, and the outputs that are neither in the store nor in a file. */
async function readOnce(
  app: App,
  text: TemporaryText,
  onProgress: StoreCopyOptions['onProgress'],
): Promise<Counts> {
  const rows: Record<string, number> = {};
  let [total, running, withOutput] = [0, 0, 0];
  const files = new Set<string>();
  const attemptsWithFile = new Set<number>();
  /** The attempts with gaps in their output, and the files of other hosts that have all of it. */
  const partial = new Map<number, OtherHostFiles | null>();
  await exportTo(app, text.write, {
    onRow(given) {
      const { table, row } = given;
      rows[table] = (rows[table] ?? 0) + 1;
      total++;
      onProgress(() => `reading row ${total}`);
      if (table === 'job' && row.phase === 'running') running++;
      if (table === 'attempt' && row.finished_at !== null && Number(row.output_bytes) > 0) withOutput++;
      return withoutPause(given);
    },
    onFile({ attempt, stream }) {
      attemptsWithFile.add(attempt);
      files.add(`${attempt} ${stream}`);
    },
    onGap: (attempt, file) => partial.set(attempt, file),
  });
  const missing = Math.max(0, withOutput - (rows.output ?? 0) - attemptsWithFile.size);
  if (files.size > 0) rows[FILES] = files.size;
  return {
    rows,
    lost_jobs: running,
    missing_outputs: missing,
    partial_outputs: countByHost([...partial.values()]),
  };
}

/** Returns the row for the copy. A queue that was paused for the copy is not paused in it. */
function withoutPause(given: ExportedRow): ExportedRow {
  if (given.table !== 'queue' || given.row.paused_by !== PAUSED_BY) return given;
  return { table: given.table, row: { ...given.row, paused_at: null, paused_by: null } };
}

/** Counts the attempts with gaps in their output by the hosts that have their files. */
function countByHost(files: (OtherHostFiles | null)[]) {
  const groups = Map.groupBy(files, (file) => file && JSON.stringify([file.host, file.directory]));
  return [...groups.values()].map(([file = null, ...others]) => ({
    /** The host that has the output files, or null if it is unknown. */
    host: file?.host ?? null,
    /** The directory of the files on that host. */
    directory: file && stateDirectory(file.directory).attempts,
    attempts: 1 + others.length,
  }));
}

/** Imports the text. Throws before the commit if the numbers of added rows are not those of the source. */
async function writeTarget(
  { app, name }: CopyTarget,
  text: TextFile,
  { rows, mark, source }: { rows: Copy['rows']; mark: string; source: CopySource },
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
  const checkedMark = ({ added }: LoadCounts): string => {
    for (const table of Object.keys(rows).filter((one) => one !== FILES)) {
      const [expected, found] = [rows[table], added[table] ?? 0];
      if (expected === found) continue;
      throw new QueueError(
        'store-corrupt',
        `the copy in ${name} differs from the original (${table}: ${expected} expected, ${found} found), so nothing was copied`,
        `check the original: ${source.command} db check. Then run this command again`,
      );
    }
    return mark;
  };
  try {
    await importLines(app, chunks, { onConflict: 'fail', mark: checkedMark });
  } catch (error) {
    if (!(error instanceof QueueError && error.code === 'import-conflict')) throw error;
    const what = `${name} was changed by somebody else meanwhile, so nothing was copied`;
    throw new QueueError('wrong-state', what, 'copy the queue to another place', { cause: error });
  }
}

/** Is stored in a copy together with its rows. It proves that the copy is complete. */
interface CopyMark {
  /** The epoch of the source. */
  epoch: string;
  /** The number of the last event of the source. */
  event: number;
  /** When the source was read. */
  at: number;
}

const markOf = async (source: Store, at: number): Promise<string> =>
  JSON.stringify({ epoch: source.epoch, event: await source.lastEventNumber(), at } satisfies CopyMark);

/** Tells whether the target is a complete copy of the source as it is now. Throws if the target has anything else in it. */
async function isComplete(source: Store, { app, name }: CopyTarget): Promise<boolean> {
  if (app.store.epoch === source.epoch)
    throw new QueueError('wrong-state', `${name} is the queue itself`, 'choose another target');
  const found = await contentsOf(app);
  if (found === null) return false;
  // The mark is read last, because it is stored together with the contents.
  const mark = JSON.parse((await app.store.loadMark()) ?? 'null') as CopyMark | null;
  if (mark?.epoch === source.epoch) {
    if (mark.event === (await source.lastEventNumber())) return true;
    throw new QueueError(
      'wrong-state',
      `${name} is a complete copy of this queue from ${toIso(mark.at)}, and the queue has changed since then`,
      'use the copy as it is, or copy the queue to another place',
    );
  }
  throw new QueueError(
    'wrong-state',
    `${name} already has ${found}`,
    'use a new file, or another schema in the URL (?schema=NAME). To add the jobs to that queue: queuectl export and queuectl import',
  );
}

/** Returns a name for what a store has in it, or null if it is empty. */
async function contentsOf(app: App): Promise<string | null> {
  const { store } = app;
  const jobs = await countJobs(app, {});
  if (jobs > 0) return countOf(jobs);
  if ((await store.schedules()).length > 0) return 'schedules';
  if ((await store.settings()).size > 0) return 'settings';
  if ((await store.queues()).length > 0) return 'queues';
  // Their numbers would not stay the same.
  return (await store.lastEventNumber()) > 0 ? 'events' : null;
}
