import type { WitnessLine } from './witness.ts';

/** The result that the client of an enqueue saw. `info` means that it saw none, so the job may exist or not. */
export interface Enqueued {
  id: string;
  outcome: 'ok' | 'fail' | 'info';
}

export interface JobRow {
  id: string;
  state: string;
  attempts: number;
  maxRetries: number;
  crashes: number;
  /** The reasons and exit codes with which the attempts ended, separated by commas. */
  results?: string | null;
}

/** One change of the row of a job or of its attempt, as a trigger recorded it. */
export interface Change {
  job: string;
  from: string;
  to: string;
  fromToken: number;
  toToken: number;
  /** The workers that held the job before and after the change. */
  fromHolder: string | null;
  toHolder: string | null;
  /** The actor of the change, or null if it is unknown. */
  actor: string | null;
}

/** A settlement in a log. One of `workers`, which share the log, made it. */
export interface LoggedSettlement {
  job: string;
  workers: string[];
}

/** Everything that is known after the last fault, when all workers have stopped. */
export interface History {
  enqueued: Enqueued[];
  witness: WitnessLine[];
  jobs: JobRow[];
  changes: Change[];
  logged: LoggedSettlement[];
  orphans: { pid: number; job: string }[];
  /** The jobs that may start at most once: all of them, or the listed ones. */
  once: 'all' | ReadonlySet<string>;
}

/** `check` finds all kinds but `late`, which the lab finds, and `invariant`, which the audit and some faults report. */
export type ViolationKind =
  | 'lost'
  | 'unexpected'
  | 'twice'
  | 'overlap'
  | 'stale'
  | 'stuck'
  | 'orphan'
  | 'overcharged'
  | 'rewritten'
  | 'late'
  | 'invariant';

export interface Violation {
  kind: ViolationKind;
  what: string;
}

const FINAL_STATES = new Set(['completed', 'dead', 'cancelled']);

/** Returns the violations in a history. It is a pure function, so the same history gives the same result. */
export function check(history: History): Violation[] {
  const jobs = new Map(history.jobs.map((job) => [job.id, job]));
  const lines = Map.groupBy(history.witness, (line) => line.job);
  return [
    ...findLost(history, jobs, lines),
    ...findUnexpected(history, jobs),
    ...[...lines].flatMap(([id, own]) => [
      ...findRepeated(history, id, own, jobs.get(id)),
      ...findOverlap(id, own),
    ]),
    ...history.jobs.flatMap(findStuck),
    ...history.jobs.flatMap(findOvercharged),
    ...history.orphans.map(({ pid, job }) => violation('orphan', `process ${pid} of ${job} is left`)),
    ...findStale(history),
    ...history.changes.flatMap(findRewritten),
  ];
}

function violation(kind: ViolationKind, what: string): Violation {
  return { kind, what };
}

/** Finds acknowledged jobs that are missing or still waiting, and completed jobs that no run ended with exit code 0. */
function findLost(
  { enqueued }: History,
  jobs: Map<string, JobRow>,
  lines: Map<string, WitnessLine[]>,
): Violation[] {
  const found: Violation[] = [];
  for (const { id, outcome } of enqueued) {
    const state = jobs.get(id)?.state;
    if (outcome === 'ok' && state === undefined) found.push(violation('lost', `${id} is not there`));
    else if (outcome === 'ok' && !FINAL_STATES.has(state!) && state !== 'processing')
      found.push(violation('lost', `${id} is still ${state}`));
    const ran = lines.get(id)?.some((line) => line.what === 'E' && line.code === 0) ?? false;
    if (state === 'completed' && !ran)
      found.push(violation('lost', `${id} is completed, but never ran to its end`));
  }
  return found;
}

/** Finds jobs that exist or ran although their enqueue failed or never happened. */
function findUnexpected({ enqueued, witness, jobs }: History, rows: Map<string, JobRow>): Violation[] {
  const expectedIds = new Set(enqueued.filter((one) => one.outcome !== 'fail').map((one) => one.id));
  const found = new Set([...witness.map((line) => line.job), ...jobs.map((job) => job.id)]);
  return [...found]
    .filter((id) => !expectedIds.has(id))
    .map((id) => violation('unexpected', `${id} ${rows.has(id) ? 'is there' : 'ran'}; nobody enqueued it`));
}

/** Finds a second run of a job that may start once, a run after a success, and two runs under one claim. */
function findRepeated({ once }: History, id: string, lines: WitnessLine[], row?: JobRow): Violation[] {
  const starts = lines.filter((line) => line.what === 'S');
  if ((once === 'all' || once.has(id)) && starts.length > 1)
    return [violation('twice', `${id} ran ${starts.length} times (${row?.results ?? 'no attempts'})`)];
  const done = lines.findIndex((line) => line.what === 'E' && line.code === 0);
  if (done !== -1 && lines.slice(done).some((line) => line.what === 'S'))
    return [violation('twice', `${id} ran again after it had succeeded`)];
  if (new Set(starts.map((line) => line.fence)).size < starts.length)
    return [violation('twice', `${id} ran twice under one claim`)];
  return [];
}

/** Finds a run that ends after the next run of the job has started. Both ran at that moment. */
function findOverlap(id: string, lines: WitnessLine[]): Violation[] {
  let start: WitnessLine | null = null;
  for (const line of lines) {
    if (line.what === 'S') start = line;
    else if (start !== null && (line.pid !== start.pid || line.born !== start.born))
      return [violation('overlap', `${id}: attempt ${line.attempt} ended while ${start.attempt} ran`)];
  }
  return [];
}

function findStuck(job: JobRow): Violation[] {
  return job.state === 'processing' ? [violation('stuck', `${job.id} is processing for ever`)] : [];
}

function findOvercharged(job: JobRow): Violation[] {
  if (job.attempts <= Math.max(1, job.maxRetries)) return [];
  return [violation('overcharged', `${job.id} has ${job.attempts} attempts of ${job.maxRetries}`)];
}

/**
 * Finds settlements by workers that did not hold the job, in the rows and in the logs, and tokens that fell or did not
 * rise with a new holder.
 */
function findStale({ changes, logged }: History): Violation[] {
  const holders = new Map<string, Set<string>>();
  const found: Violation[] = [];
  for (const change of changes) {
    if (change.toToken < change.fromToken) found.push(violation('stale', `the token of ${change.job} fell`));
    if (change.to === 'processing' && change.toToken <= change.fromToken)
      found.push(violation('stale', `${change.job} changed hands without a new token`));
    const { job, fromHolder, actor } = change;
    const holder = change.to === 'processing' ? change.toHolder : fromHolder;
    if (actor !== null && actor !== holder)
      found.push(violation('stale', `${job} became ${change.to} by ${actor}, when ${holder} held it`));
    if (change.from !== 'processing' || change.to === 'processing' || fromHolder === null) continue;
    holders.set(job, (holders.get(job) ?? new Set()).add(fromHolder));
  }
  for (const { job, workers } of logged) {
    if (!workers.some((worker) => holders.get(job)?.has(worker)))
      found.push(violation('stale', `${job} was settled by a worker that did not hold it`));
  }
  return found;
}

/** Reports a change of a job that had ended, unless it became pending by a retry. */
function findRewritten(change: Change): Violation[] {
  if (!FINAL_STATES.has(change.from) || change.to === 'pending') return [];
  return [violation('rewritten', `${change.job} went from ${change.from} to ${change.to}`)];
}
