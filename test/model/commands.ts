import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import fc from 'fast-check';
import {
  DEPENDENCY_CONDITIONS,
  type Dependency,
  type EndReason,
  FINAL_STATES,
  PARENT_FAILURES,
  type State,
} from '../../src/core/jobs/job.ts';
import type { Outcome } from '../../src/core/rules/decide.ts';
import { PRUNED_STATES, type PrunedState } from '../../src/core/rules/retention.ts';
import type { Settlement } from '../../src/store/contract/claims.ts';
import type { Store } from '../../src/store/store.ts';
import {
  claimRequest,
  ending,
  ensureRegistered,
  failedWith,
  ids,
  jobSpec,
  succeeded,
} from '../support/jobs.ts';
import { expectSame } from './expect-same.ts';
import * as m from './model.ts';

type Command = fc.AsyncCommand<m.Model, Store>;

/** There are few ids, queues and workers, so that different steps affect the same jobs. */
const IDS = ['a', 'b', 'c', 'd', 'e'];
const QUEUES = ['one', 'two'];
const WORKERS = ['w1', 'w2', 'w3'];
const OUTCOMES: Outcome[] = [
  succeeded,
  failedWith(1),
  { why: 'timeout' },
  { why: 'cancelled' },
  { why: 'stopped' },
  { why: 'never-started' },
  { why: 'lost' },
];
const END_REASONS: EndReason[] = ['timeout', 'cancelled', 'stopped'];
const STATE_SETS: State[][] = [
  ['dead'],
  ['dead', 'cancelled', 'failed'],
  ['completed', 'pending', 'processing'],
];

/** Defines a step that changes the model and the store. After it, both must hold the same jobs, claims and counts. */
function step<T>(
  arbitrary: fc.Arbitrary<T>,
  name: string,
  isPossible: (model: m.Model, input: T) => boolean,
  run: (model: m.Model, store: Store, input: T) => Promise<void>,
): fc.Arbitrary<Command> {
  return arbitrary.map((input) => ({
    check: (model) => isPossible(model, input),
    run: async (model, store) => {
      await run(model, store, input);
      await expectSame(model, store);
    },
    toString: () => `${name}(${JSON.stringify(input)})`,
  }));
}

const always = (): boolean => true;
const id = fc.constantFrom(...IDS);
const worker = fc.constantFrom(...WORKERS);
/** How many claims to go back from the newest one. Old claims are used, too, because the store must refuse them. */
const claimsBack = fc.constantFrom(0, 0, 1, 1, 1, 2, 2, 3, 5);
const claimBefore = (model: m.Model, back: number): m.ModelClaim | undefined =>
  model.claims[model.claims.length - 1 - back];
const hasClaim = (model: m.Model, input: { claim: number }): boolean =>
  claimBefore(model, input.claim) !== undefined;

const enqueue = step(
  fc.record({
    id,
    queue: fc.constantFrom(...QUEUES),
    priority: fc.constantFrom(-10, 0, 10),
    maxRetries: fc.integer({ min: 1, max: 3 }),
    delayMs: fc.constantFrom(null, null, 500, 2000),
    parents: fc.oneof(
      { weight: 2, arbitrary: fc.constant<Dependency[]>([]) },
      {
        weight: 1,
        arbitrary: fc.uniqueArray(fc.record({ id, on: fc.constantFrom(...DEPENDENCY_CONDITIONS) }), {
          ...{ minLength: 1, maxLength: 2, selector: (one) => one.id },
        }),
      },
    ),
    onParentFailure: fc.constantFrom(undefined, ...PARENT_FAILURES),
    atMostOnce: fc.constantFrom(false, false, true),
  }),
  'enqueue',
  always,
  async (model, store, { parents, delayMs, onParentFailure, atMostOnce, ...input }) => {
    const dependsOn = parents.filter((one) => model.jobs.has(one.id) && one.id !== input.id);
    const runAt = delayMs === null ? null : model.now + delayMs;
    const policy = {
      ...(onParentFailure === undefined ? {} : { onParentFailure }),
      ...(atMostOnce ? { atMostOnce } : {}),
    };
    const spec = jobSpec(input.id, { ...input, runAt, dependsOn, policy });
    if (model.jobs.has(input.id)) {
      await rejects(store.insert([spec], model.now), { code: 'job-exists' });
      return;
    }
    await store.insert([spec], model.now);
    m.insert(model, {
      ...input,
      dueAt: runAt ?? model.now,
      dependsOn: dependsOn.map((one) => ({ parent: model.jobs.get(one.id)!, on: one.on, phase: 'open' })),
      onParentFailure,
      atMostOnce,
    });
  },
);

/** Settles ended attempts together with the next claim, as workers do. */
const claim = step(
  fc.record({
    worker,
    limit: fc.integer({ min: 0, max: 3 }),
    queues: fc.constantFrom<string[] | null>(null, null, ['one'], ['two']),
    settle: fc.array(fc.record({ claim: claimsBack, outcome: fc.constantFrom(...OUTCOMES) }), {
      maxLength: 2,
    }),
  }),
  'claim',
  (model, input) => !model.deadWorkers.has(input.worker),
  async (model, store, { worker: workerId, limit, queues, settle }) => {
    const claims = settle.flatMap((one) => {
      const found = claimBefore(model, one.claim);
      return found === undefined ? [] : [{ found, settlement: settlementNow(model, found, one.outcome) }];
    });
    const settlements = claims.map((one) => one.settlement);
    const request = claimRequest({ workerId, limit, queues, settlements });
    await ensureRegistered(store, workerId);
    const result = await store.claim(request, model.now);
    const settled = claims.map((one) => m.settle(model, one.found, one.settlement));
    deepEqual(result.settled, settled);
    const expected = m.claimable(model, limit, queues);
    deepEqual(ids(result.jobs), ids(expected));
    for (const [i, job] of expected.entries()) {
      const real = result.jobs[i]!;
      for (const known of model.attempts.keys()) ok(real.claim.attempt > known);
      m.take(model, job, workerId, real.claim.attempt);
      model.claims.push({ job, token: job.token, attempt: real.claim.attempt, real });
    }
  },
);

function settlementNow(model: m.Model, found: m.ModelClaim, outcome: Outcome): Settlement {
  return ending(found.real, outcome, model.now);
}

const settle = step(
  fc.record({ claim: claimsBack, outcome: fc.constantFrom(...OUTCOMES) }),
  'settle',
  hasClaim,
  async (model, store, input) => {
    const found = claimBefore(model, input.claim)!;
    const settlement = settlementNow(model, found, input.outcome);
    equal(await store.settle(settlement), m.settle(model, found, settlement));
  },
);

const storeEndReason = step(
  fc.record({ claim: claimsBack, reason: fc.constantFrom(...END_REASONS) }),
  'storeEndReason',
  hasClaim,
  async (model, store, input) => {
    const found = claimBefore(model, input.claim)!;
    equal(
      await store.setEndReason(found.real.claim, input.reason),
      m.storeEndReason(model, found, input.reason),
    );
  },
);

/** Adopts a job with the current or an older claim. */
const adopt = step(
  fc.record({ claim: claimsBack, worker }),
  'adopt',
  hasClaim,
  async (model, store, input) => {
    await adoptFrom(model, store, claimBefore(model, input.claim)!, input.worker);
  },
);

async function adoptFrom(model: m.Model, store: Store, found: m.ModelClaim, workerId: string): Promise<void> {
  const real = await store.adopt(found.real.claim, workerId);
  equal(real !== null, m.adopt(model, found, workerId));
  if (real !== null)
    model.claims.push({ job: found.job, token: found.job.token, attempt: found.attempt, real });
}

const crashWorker = step(
  fc.record({ worker }),
  'crashWorker',
  (model) => model.deadWorkers.size < WORKERS.length - 1,
  async (model, _store, input) => {
    model.deadWorkers.add(input.worker);
  },
);

/** Adopts all jobs of dead workers, as a live worker does. Then these workers are alive again. */
const adoptFromDead = step(
  fc.record({ worker }),
  'adoptFromDead',
  (model, input) => model.deadWorkers.size > 0 && !model.deadWorkers.has(input.worker),
  async (model, store, input) => {
    for (const job of await store.runningJobs()) {
      if (!model.deadWorkers.has(job.workerId!)) continue;
      const found = model.claims.findLast((one) => one.attempt === job.claim.attempt)!;
      deepEqual(job.claim, found.real.claim);
      await adoptFrom(model, store, found, input.worker);
    }
    model.deadWorkers.clear();
  },
);

const passTime = step(
  fc.record({ ms: fc.constantFrom(0, 1, 500, 1000, 4000, 3_600_000) }),
  'passTime',
  always,
  async (model, _store, { ms }) => {
    model.now += ms;
  },
);

/** Returns the ids of the cancelled jobs. */
function idsOfCancelled(model: m.Model): string[] {
  const jobs = [...model.jobs.values()].filter((job) => job.state === 'cancelled');
  return jobs.map((job) => job.id).sort();
}

/** Acts on one job as users do, whatever its state. */
const actOnJob = step(
  fc.record({
    id,
    verb: fc.constantFrom('cancel', 'hold', 'release', 'retry', 'remove'),
    from: fc.constantFrom(...STATE_SETS),
    bulk: fc.boolean(),
  }),
  'actOnJob',
  always,
  async (model, store, input) => {
    const job = model.jobs.get(input.id);
    const { now } = model;
    const expectChanged = (changedIds: string[], applyToModel: (job: m.ModelJob) => boolean): void =>
      deepEqual(changedIds, job !== undefined && applyToModel(job) ? [input.id] : []);
    switch (input.verb) {
      case 'cancel': {
        const cancelledBefore = idsOfCancelled(model);
        const predicted = await store.cancelledWith([input.id], 'cancelled');
        const { dependents, ...answer } = await store.cancel([input.id], now);
        const expected = { cancelled: [] as string[], ending: [] as string[], ended: [] as string[] };
        if (job !== undefined) expected[m.cancel(model, job)].push(input.id);
        deepEqual(answer, expected);
        const newlyCancelled = idsOfCancelled(model).filter(
          (one) => one !== input.id && !cancelledBefore.includes(one),
        );
        deepEqual(dependents.sort(), newlyCancelled);
        // The children of a running job are cancelled only after its processes are gone.
        if (expected.ending.length === 0) deepEqual(predicted.sort(), newlyCancelled);
        return;
      }
      case 'hold':
        return expectChanged(await store.hold([input.id], now), m.hold);
      case 'release':
        return expectChanged(await store.release([input.id], now), (one) => m.release(model, one));
      case 'retry':
        return expectChanged(await store.retry([input.id], input.from, now, input.bulk), (one) =>
          m.retry(model, one, input.from, input.bulk),
        );
      case 'remove': {
        const from = [...FINAL_STATES, ...input.from];
        const cancelledBefore = idsOfCancelled(model);
        const predicted = await store.cancelledWith([input.id], 'deleted');
        const { ids: removed, dependents } = await store.remove([input.id], from, now);
        expectChanged(removed, (one) => m.remove(model, one, from));
        const newlyCancelled = idsOfCancelled(model).filter((one) => !cancelledBefore.includes(one));
        deepEqual(dependents.sort(), newlyCancelled);
        if (removed.length > 0) deepEqual(predicted.sort(), newlyCancelled);
        return;
      }
    }
  },
);

const pause = step(
  fc.record({ queue: fc.constantFrom(...QUEUES), paused: fc.constantFrom(false, false, true) }),
  'pause',
  always,
  async (model, store, { queue, paused }) => {
    await store.setQueue(queue, { paused: paused ? { at: model.now, by: 'somebody' } : null });
    if (paused) model.pausedQueues.add(queue);
    else model.pausedQueues.delete(queue);
  },
);

const prune = step(
  fc.record({ state: fc.constantFrom<PrunedState>(...PRUNED_STATES), count: fc.integer({ min: 0, max: 2 }) }),
  'prune',
  always,
  async (model, store, { state, count }) => {
    const { jobs } = await store.prune(state, { ageMs: null, count, bytes: null }, model.now);
    equal(jobs, m.prune(model, state, count).length);
  },
);

/** A step that is listed more often is chosen more often. */
export const COMMANDS = [
  ...[enqueue, enqueue, enqueue, claim, claim, claim, settle, settle, storeEndReason, storeEndReason],
  ...[adopt, adopt, crashWorker, adoptFromDead, passTime, actOnJob, actOnJob, actOnJob, pause, prune],
];
