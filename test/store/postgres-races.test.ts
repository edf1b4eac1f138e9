import { describe, expect, test } from 'bun:test';
import type { ClaimedJob } from '../../src/core/jobs/job.ts';
import { claimStatements } from '../../src/store/parts/claims.ts';
import { dependencyStatements } from '../../src/store/parts/dependencies.ts';
import { settleStatements } from '../../src/store/parts/settle.ts';
import { workerStatements } from '../../src/store/parts/workers.ts';
import { POSTGRES } from '../../src/store/postgres/engine.ts';
import * as claims from '../../src/store/postgres/sql/claims.ts';
import { settleJobs } from '../../src/store/postgres/sql/settle.ts';
import { beatWorker } from '../../src/store/postgres/sql/workers.ts';
import type { Store } from '../../src/store/store.ts';
import { stopOrderOf } from '../conformance/agenda.ts';
import {
  claim,
  claimRequest,
  ending,
  failedWith,
  ids,
  jobSpec,
  LEASE_MS,
  NOW,
  newWorker,
  startJob,
  succeeded,
} from '../support/jobs.ts';
import { type Race, type Replacements, runRace } from '../support/postgres-race.ts';

const claimed = claimStatements(POSTGRES);
const workers = workerStatements(POSTGRES);
const dependencies = dependencyStatements(POSTGRES);

/** A race that one safeguard decides. `control` replaces this safeguard, and then the result is `without` instead of `expected`. */
interface SafeRace<T> extends Race<T> {
  look(store: Store, tries: number): Promise<unknown>;
  expected: unknown;
  control: Replacements;
  without: unknown;
}

/** Takes the lock out of a statement. */
const unlocked = (statement: string, lock: RegExp): Replacements => {
  if (!lock.test(statement)) throw new Error(`no lock in: ${statement}`);
  return { [statement]: statement.replace(lock, '') };
};

function testRace<T>(title: string, race: SafeRace<T>): void {
  describe(title, () => {
    test('the safeguard holds', async () => {
      expect(await runRace(race, {}, race.look)).toEqual(race.expected);
    });
    test('control: without the safeguard, it goes wrong', async () => {
      expect(await runRace(race, race.control, race.look)).toEqual(race.without);
    });
  });
}

const idle = (id: string) => jobSpec(id, { queue: 'hooks' });

testRace<ClaimedJob[]>('the last two jobs end at the same time, and one idle hook is added', {
  async prepare(store) {
    await store.insert([jobSpec('a'), jobSpec('b')], NOW);
    return claim(store, { limit: 2 });
  },
  first: (store, [a]) => store.settle(ending(a!, succeeded, NOW, { onIdle: idle('idle-a') })),
  stopsAfter: { statement: settleStatements(POSTGRES).anyBusyQueueExcept },
  second: (store, [, b]) => store.settle(ending(b!, succeeded, NOW, { onIdle: idle('idle-b') })),
  look: async (store) => [await store.get('idle-a'), await store.get('idle-b')].filter(Boolean).length,
  expected: 1,
  control: { [settleStatements(POSTGRES).lockIdle]: 'SELECT 1' },
  without: 0,
});

/** Two claims that both see room for one more job. */
const claimsForOneSlot = {
  first: (store: Store) => claim(store, { workerId: 'w1' }),
  // The second answer is the one after the lock.
  stopsAfter: { statement: claims.openQueues, answers: 2 },
  second: (store: Store) => claim(store, { workerId: 'w2' }),
  look: async (store: Store) => (await store.runningJobs()).length,
};

testRace('two workers claim from a queue with a concurrency limit', {
  ...claimsForOneSlot,
  async prepare(store) {
    await store.setQueue('default', { concurrency: 1 });
    await store.insert([jobSpec('a'), jobSpec('b')], NOW);
  },
  expected: 1,
  control: unlocked(claims.lockQueues, /FOR NO KEY UPDATE/),
  without: 2,
});

testRace('two workers claim from a queue with a rate limit', {
  ...claimsForOneSlot,
  async prepare(store) {
    await store.setQueue('default', { rate: { jobs: 1, perMs: 60_000 } });
    await store.insert([jobSpec('a'), jobSpec('b')], NOW);
  },
  expected: 1,
  control: unlocked(claims.lockQueues, /FOR NO KEY UPDATE/),
  without: 2,
});

testRace('two workers claim while max-concurrent-jobs is set', {
  ...claimsForOneSlot,
  async prepare(store) {
    await store.set('max-concurrent-jobs', '1', () => {});
    await store.insert([jobSpec('a', { queue: 'x' }), jobSpec('b', { queue: 'y' })], NOW);
  },
  expected: 1,
  control: unlocked(claims.lockRunningLimit, /FOR NO KEY UPDATE/),
  without: 2,
});

testRace<ClaimedJob>('a job is added while its parent ends, and does not wait for ever', {
  prepare: (store) => startJob(store, 'parent'),
  first: (store) => store.insert([jobSpec('child', { dependsOn: [{ id: 'parent', on: 'ok' }] })], NOW),
  stopsAfter: { statement: dependencies.insertDependencies },
  second: (store, parent) => store.settle(ending(parent, succeeded)),
  look: async (store) => ids(await claim(store)),
  expected: ['child'],
  control: {
    [POSTGRES.lockParents]: 'SELECT number, id, phase, state FROM job WHERE id = ANY($1)',
  },
  without: [],
});

const settleBoth = (store: Store, workerId: string, jobs: ClaimedJob[]) =>
  claim(store, { workerId, queues: ['none'], settlements: jobs.map((job) => ending(job, succeeded)) });

testRace<ClaimedJob[]>(
  'two workers settle parents of the same jobs in different orders, without a deadlock',
  {
    async prepare(store) {
      await store.insert(
        ['a1', 'a2', 'b1', 'b2'].map((id) => jobSpec(id)),
        NOW,
      );
      const parents = await claim(store, { limit: 4 });
      const childOf = (...parentIds: string[]) =>
        jobSpec(`child-${parentIds.join('-')}`, { dependsOn: parentIds.map((id) => ({ id, on: 'ok' })) });
      await store.insert([childOf('a1', 'b1'), childOf('a2', 'b2')], NOW);
      return parents;
    },
    first: (store, [a1, a2]) => settleBoth(store, 'w1', [a1!, a2!]),
    stopsAfter: { statement: dependencies.meetDependencies },
    second: (store, [, , b1, b2]) => settleBoth(store, 'w1', [b2!, b1!]),
    look: async (store, tries) => [tries, ids(await claim(store, { limit: 2 }))],
    expected: [2, ['child-a1-b1', 'child-a2-b2']],
    control: { [dependencies.lockDependentsOfAll]: 'SELECT $1::bigint[]' },
    without: [3, ['child-a1-b1', 'child-a2-b2']],
  },
);

testRace<ClaimedJob>('an attempt fails while it is being cancelled, and is not retried', {
  prepare: (store) => startJob(store, 'a'),
  first: (store, job) => store.setEndReason(job.claim, 'cancelled'),
  stopsAfter: { statement: claimed.markAttempt },
  second: (store, job) => store.settle(ending(job, failedWith(1))),
  look: async (store) => (await store.get('a'))?.state,
  expected: 'cancelled',
  control: {
    [settleJobs]: settleJobs.replace('OF job, attempt', 'OF job'),
  },
  without: 'failed',
});

testRace('a worker is not unregistered while it claims a job', {
  async prepare(store) {
    await store.register(newWorker('w1'));
    await store.insert([jobSpec('a')], NOW);
  },
  first: (store) => claim(store),
  stopsAfter: { statement: claims.takeFirstOfOne(1, 0) },
  second: (store) => store.unregister('w1'),
  look: async (store) => ids(await store.workers()),
  expected: ['w1'],
  control: unlocked(claims.takeFirstOfOne(1, 0), /FOR KEY SHARE/),
  without: [],
});

testRace('a worker that is being unregistered claims no job', {
  async prepare(store) {
    await store.register(newWorker('w1'));
    await store.insert([jobSpec('a')], NOW);
  },
  first: (store) => store.unregister('w1'),
  stopsAfter: { statement: workers.deleteIdleWorker },
  second: (store) => store.claim(claimRequest(), NOW),
  look: async (store) => ids(await store.runningJobs()),
  expected: [],
  control: unlocked(claims.takeFirstOfOne(1, 0), /FOR KEY SHARE/),
  without: ['a'],
});

testRace('an order to a supervisor reaches a worker that is registering', {
  async prepare(store) {
    const { host, pid, startTime } = newWorker('w');
    await store.registerSupervisor({ id: 's', host, pid, startTime });
  },
  first: (store) => store.register(newWorker('w1', { supervisor: 's' })),
  stopsAfter: { statement: workers.insertWorker },
  second: (store) => store.order(['s'], 'drain'),
  look: (store) => stopOrderOf(store, 'w1'),
  expected: 'drain',
  control: unlocked(workers.lockSupervisor, /FOR NO KEY UPDATE/),
  without: null,
});

testRace('a worker does not hand its jobs over to one that begins to drain', {
  async prepare(store) {
    await store.register(newWorker('w1'));
    await store.register(newWorker('heir'));
  },
  first: (store) => store.beat('heir', true, LEASE_MS, NOW),
  stopsAfter: { statement: beatWorker },
  second: (store) => store.handOver('w1', ['heir']),
  look: async (store) => ids(await store.workers()),
  expected: ['heir', 'w1'],
  control: unlocked(workers.lockWorkers, /FOR UPDATE/),
  without: ['heir'],
});
