import { ok } from 'node:assert/strict';
import { type ParentEnd, SATISFIED_CONDITIONS } from '../../src/core/jobs/dependencies.ts';
import type { ClaimedJob, Dependency, EndReason, JobPolicy, State } from '../../src/core/jobs/job.ts';
import type { Transition } from '../../src/core/rules/decide.ts';
import type { SettleAnswer } from '../../src/store/contract/claims.ts';
import { NOW } from '../support/jobs.ts';

/**
 * Models the queue as the contract describes it, without tables, transactions or files. Every step must
 * have the same result in the model and in the real store.
 */
export interface Model {
  now: number;
  jobs: Map<string, ModelJob>;
  /** The number of jobs enqueued so far. */
  enqueuedCount: number;
  attempts: Map<number, ModelAttempt>;
  pausedQueues: Set<string>;
  /** Every claim that was ever returned, valid or not, because a worker may come back with any of them. */
  claims: ModelClaim[];
  deadWorkers: Set<string>;
}

export interface ModelJob {
  id: string;
  /** Rises with every enqueue. */
  number: number;
  queue: string;
  priority: number;
  state: State;
  phase: 'waits' | 'held' | 'blocked' | 'running' | 'ended';
  dueAt: number | null;
  finishedAt: number | null;
  attempts: number;
  crashes: number;
  token: number;
  attempt: number | null;
  worker: string | null;
  dependsOn: ModelDependency[];
  onParentFailure: JobPolicy['onParentFailure'];
  atMostOnce: boolean;
  /** The number of recorded attempts. */
  runs: number;
  /** The number of attempts since the last retry by a user. */
  starts: number;
  /** True if the job was removed. Then all its claims are invalid. */
  gone: boolean;
}

export interface ModelDependency {
  parent: ModelJob;
  on: Dependency['on'];
  phase: 'open' | 'met' | 'failed';
}

interface ModelAttempt {
  token: number;
  endReason: EndReason | null;
  ended: { why: string; exitCode: number | null } | null;
  /** When the job was due before this attempt. */
  dueAt: number;
}

export interface ModelClaim {
  job: ModelJob;
  token: number;
  attempt: number;
  /** The claim that the store returned. */
  real: ClaimedJob;
}

export function newModel(): Model {
  return {
    now: NOW,
    jobs: new Map(),
    enqueuedCount: 0,
    attempts: new Map(),
    pausedQueues: new Set(),
    claims: [],
    deadWorkers: new Set(),
  };
}

export function insert(
  model: Model,
  fields: Pick<
    ModelJob,
    'id' | 'queue' | 'priority' | 'dueAt' | 'dependsOn' | 'onParentFailure' | 'atMostOnce'
  >,
): void {
  const job: ModelJob = {
    ...fields,
    number: model.enqueuedCount++,
    state: 'pending',
    phase: fields.dependsOn.length > 0 ? 'blocked' : 'waits',
    finishedAt: null,
    attempts: 0,
    crashes: 0,
    token: 0,
    attempt: null,
    worker: null,
    runs: 0,
    starts: 0,
    gone: false,
  };
  model.jobs.set(job.id, job);
  for (const { parent } of job.dependsOn)
    if (parent.phase === 'ended') handleParentEnd(model, parent, parent.state as ParentEnd);
}

/** Returns the jobs that a claim must return, in their order. */
export function claimable(model: Model, limit: number, queues: string[] | null): ModelJob[] {
  return [...model.jobs.values()]
    .filter((job) => job.phase === 'waits' && job.dueAt! <= model.now)
    .filter((job) => !model.pausedQueues.has(job.queue) && (queues === null || queues.includes(job.queue)))
    .sort((a, b) => b.priority - a.priority || a.number - b.number)
    .slice(0, limit);
}

export function take(model: Model, job: ModelJob, worker: string, attempt: number): void {
  ok(!job.atMostOnce || job.starts === 0, 'an at-most-once job starts once');
  job.runs++;
  job.starts++;
  const dueAt = job.dueAt!;
  Object.assign(job, {
    state: 'processing',
    phase: 'running',
    dueAt: null,
    worker,
    attempt,
    token: job.token + 1,
  });
  model.attempts.set(attempt, { token: job.token, endReason: null, ended: null, dueAt });
}

/** Returns whether a worker with this claim may still settle the job. */
function isValid(claim: ModelClaim): boolean {
  return !claim.job.gone && claim.job.phase === 'running' && claim.job.token === claim.token;
}

export function adopt(model: Model, claim: ModelClaim, worker: string): boolean {
  if (!isValid(claim)) return false;
  claim.job.token++;
  claim.job.worker = worker;
  model.attempts.get(claim.attempt)!.token++;
  return true;
}

export function storeEndReason(model: Model, claim: ModelClaim, reason: EndReason): boolean {
  const attempt = model.attempts.get(claim.attempt);
  if (attempt === undefined || attempt.ended !== null || attempt.token !== claim.token) return false;
  attempt.endReason ??= reason;
  return true;
}

export interface ModelSettlement {
  why: string;
  exitCode: number | null;
  transition: Transition;
}

export function settle(model: Model, claim: ModelClaim, settlement: ModelSettlement): SettleAnswer {
  const { job } = claim;
  const attempt = model.attempts.get(claim.attempt);
  if (!isValid(claim)) return settleAgain(claim, attempt, settlement);
  const isCancelled = attempt!.endReason === 'cancelled';
  if (settlement.why === 'never-started') {
    model.attempts.delete(claim.attempt);
    job.runs--;
    job.starts--;
    Object.assign(job, {
      state: 'pending',
      phase: 'waits',
      dueAt: attempt!.dueAt,
      worker: null,
      attempt: null,
    });
    if (isCancelled) end(model, job, 'cancelled');
    return 'applied';
  }
  const { transition } = settlement;
  attempt!.ended = { why: settlement.why, exitCode: settlement.exitCode };
  Object.assign(job, { worker: null, attempts: transition.attempts, crashes: transition.crashes });
  const isRetried = transition.to === 'failed' || transition.to === 'released';
  const isStoppedForGood = transition.to === 'dead' && settlement.why === 'stopped';
  if (!isRetried && !(isStoppedForGood && isCancelled)) end(model, job, transition.to);
  else if (isCancelled) end(model, job, 'cancelled');
  else if (transition.to === 'failed')
    Object.assign(job, { state: 'failed', phase: 'waits', dueAt: transition.nextRunAt });
  else Object.assign(job, { state: 'pending', phase: 'waits', dueAt: model.now });
  return 'applied';
}

/** Returns already-mine for the settlement that was applied before, and lost for any other. */
function settleAgain(
  { job, token }: ModelClaim,
  attempt: ModelAttempt | undefined,
  { why, exitCode }: ModelSettlement,
): SettleAnswer {
  const isRepeated =
    why === 'never-started'
      ? !job.gone && job.token === token && attempt === undefined
      : attempt?.token === token && attempt.ended?.why === why && attempt.ended.exitCode === exitCode;
  return isRepeated ? 'already-mine' : 'lost';
}

export function end(model: Model, job: ModelJob, state: 'completed' | 'dead' | 'cancelled'): void {
  Object.assign(job, { state, phase: 'ended', dueAt: null, finishedAt: model.now });
  handleParentEnd(model, job, state);
}

function handleParentEnd(model: Model, parent: ModelJob, parentEnd: ParentEnd): void {
  const satisfied = SATISFIED_CONDITIONS[parentEnd];
  for (const child of model.jobs.values()) {
    for (const one of child.dependsOn) {
      if (one.parent !== parent || one.phase !== 'open') continue;
      one.phase = satisfied.includes(one.on) || child.onParentFailure === 'run' ? 'met' : 'failed';
      if (one.phase === 'met') unblock(model, child);
      else if (child.onParentFailure === 'hold' && child.phase === 'blocked') child.phase = 'held';
      else if (child.onParentFailure !== 'hold' && child.phase !== 'running' && child.phase !== 'ended')
        end(model, child, 'cancelled');
    }
  }
}

function unblock(model: Model, child: ModelJob): void {
  if (child.dueAt !== null) child.dueAt = Math.max(child.dueAt, model.now);
  if (child.phase === 'blocked' && !isBlocked(child)) child.phase = 'waits';
}

function isBlocked(job: ModelJob): boolean {
  return job.dependsOn.some((one) => one.phase === 'open');
}

export function cancel(model: Model, job: ModelJob): 'cancelled' | 'ending' | 'ended' {
  if (job.phase === 'ended') return 'ended';
  if (job.phase === 'running') {
    model.attempts.get(job.attempt!)!.endReason = 'cancelled';
    return 'ending';
  }
  end(model, job, 'cancelled');
  return 'cancelled';
}

export function retry(model: Model, job: ModelJob, from: readonly State[], bulk: boolean): boolean {
  if (job.phase === 'running' || !from.includes(job.state)) return false;
  if (bulk && job.atMostOnce && job.runs > 0) return false;
  job.starts = 0;
  const phase = job.phase === 'held' ? 'held' : isBlocked(job) ? 'blocked' : 'waits';
  Object.assign(job, {
    state: 'pending',
    phase,
    attempts: 0,
    crashes: 0,
    dueAt: model.now,
    finishedAt: null,
  });
  reopenDependencies(model, job);
  return true;
}

/**
 * Makes a retried or released job wait again for its unfinished parents. Its children whose dependency had failed, and
 * that neither run nor have ended, wait for it again.
 */
function reopenDependencies(model: Model, job: ModelJob): void {
  for (const one of job.dependsOn)
    if (one.phase !== 'open' && !one.parent.gone && one.parent.phase !== 'ended') reopen(job, one);
  for (const child of model.jobs.values())
    for (const one of child.dependsOn)
      if (
        one.parent === job &&
        one.phase === 'failed' &&
        child.phase !== 'running' &&
        child.phase !== 'ended'
      )
        reopen(child, one);
}

function reopen(job: ModelJob, dependency: ModelDependency): void {
  dependency.phase = 'open';
  if (job.phase !== 'held') job.phase = 'blocked';
}

export function hold(job: ModelJob): boolean {
  if (job.phase !== 'waits' && job.phase !== 'blocked') return false;
  job.phase = 'held';
  return true;
}

export function release(model: Model, job: ModelJob): boolean {
  if (job.phase !== 'held') return false;
  job.dueAt = Math.max(job.dueAt!, model.now);
  job.phase = isBlocked(job) ? 'blocked' : 'waits';
  reopenDependencies(model, job);
  return true;
}

export function remove(model: Model, job: ModelJob, from: readonly State[]): boolean {
  if (job.phase === 'running' || !from.includes(job.state)) return false;
  forget(model, job);
  handleParentEnd(model, job, 'deleted');
  return true;
}

/** Removes the jobs in this state except the `keep` that ended last. Returns the removed jobs. */
export function prune(model: Model, state: State, keep: number): ModelJob[] {
  const ended = [...model.jobs.values()]
    .filter((job) => job.phase === 'ended' && job.state === state)
    .sort((a, b) => a.finishedAt! - b.finishedAt! || a.number - b.number);
  const removed = ended.slice(0, Math.max(0, ended.length - keep));
  for (const job of removed) forget(model, job);
  return removed;
}

function forget(model: Model, job: ModelJob): void {
  model.jobs.delete(job.id);
  job.gone = true;
  for (const claim of model.claims) if (claim.job === job) model.attempts.delete(claim.attempt);
}
