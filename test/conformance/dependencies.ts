import { expect } from 'bun:test';
import type { QueueError } from '../../src/core/errors.ts';
import type { JobPolicy, JobSpec } from '../../src/core/jobs/job.ts';
import type { Store } from '../../src/store/store.ts';
import {
  claim,
  claimRequest,
  ending,
  failedWith,
  ids,
  jobSpec,
  NOW,
  startJob,
  succeeded,
} from '../support/jobs.ts';
import { nextDue } from './agenda.ts';
import type { Case } from './topic.ts';

/** Returns a job with the given parents, each written as `id` or as `condition:id`. */
const childOf = (id: string, parents: string[], over: Partial<JobSpec> = {}): JobSpec =>
  jobSpec(id, {
    dependsOn: parents.map((text) => {
      const [on, parent] = text.includes(':') ? text.split(':') : ['ok', text];
      return { id: parent!, on: on as 'ok' };
    }),
    ...over,
  });

const onFailure = (onParentFailure: NonNullable<JobPolicy['onParentFailure']>): Partial<JobSpec> => ({
  policy: { onParentFailure },
});

const statesOf = async (store: Store, ...names: string[]): Promise<string[]> => {
  const found: string[] = [];
  for (const name of names) {
    const job = (await store.get(name))!;
    found.push(job.blocked ? 'blocked' : job.held ? 'held' : job.state);
  }
  return found;
};

/** Runs all jobs that can be claimed and returns their ids in the order of their claims. */
async function runAll(store: Store, now = NOW): Promise<string[]> {
  const order: string[] = [];
  for (let [job] = await claim(store, {}, now); job !== undefined; ) {
    order.push(job.id);
    [job] = await claim(store, { settlements: [ending(job, succeeded, now)] }, now);
  }
  return order;
}

const oneAttempt = { maxRetries: 1 };

export const dependencies: Record<string, Case> = {
  'a job is not claimed before its parent has completed': async ({ store }) => {
    const parent = await startJob(store, 'parent');
    const [child] = await store.insert([childOf('child', ['parent'], { priority: 99 })], NOW);
    expect(child).toMatchObject({ state: 'pending', blocked: true, dependsOn: [{ id: 'parent', on: 'ok' }] });
    expect(await claim(store)).toEqual([]);
    expect(await nextDue(store, null, NOW)).toBeNull();
    const result = await store.claim(claimRequest({ settlements: [ending(parent, succeeded)] }), NOW + 1000);
    expect(result).toMatchObject({ settled: ['applied'], hasUnblocked: true });
    expect(ids(result.jobs)).toEqual(['child']);
  },

  'a parent that waits for a retry has not ended': async ({ store }) => {
    const parent = await startJob(store, 'parent');
    await store.insert([childOf('child', ['any:parent'])], NOW);
    await store.settle(ending(parent, failedWith(1)));
    expect(await statesOf(store, 'parent', 'child')).toEqual(['failed', 'blocked']);
  },

  'ok, any and notok decide after which ends of a parent its child runs': async ({ store }) => {
    const kinds = ['ok', 'any', 'notok'];
    for (const [end, expected] of [
      ['completed', ['pending', 'pending', 'cancelled']],
      ['dead', ['cancelled', 'pending', 'pending']],
      ['cancelled', ['cancelled', 'pending', 'pending']],
      ['deleted', ['cancelled', 'cancelled', 'cancelled']],
    ] as const) {
      await store.insert([jobSpec(end, { ...oneAttempt, priority: 1 })], NOW);
      const children = kinds.map((kind) => `${end}-${kind}`);
      await store.insert(
        kinds.map((kind) => childOf(`${end}-${kind}`, [`${kind}:${end}`])),
        NOW,
      );
      if (end === 'cancelled') await store.cancel([end], NOW);
      else if (end === 'deleted') await store.remove([end], ['pending'], NOW);
      else {
        const [job] = await claim(store);
        await store.settle(ending(job!, end === 'dead' ? failedWith(1) : succeeded));
      }
      expect(await statesOf(store, ...children)).toEqual([...expected]);
    }
    expect((await store.get('dead-ok'))?.lastError).toBe("parent job 'dead' is dead");
    expect((await store.get('deleted-any'))?.lastError).toBe("parent job 'deleted' was deleted");
  },

  'a job with several parents runs after the last of them': async ({ store }) => {
    await store.insert([jobSpec('a'), jobSpec('b'), childOf('c', ['a', 'b'])], NOW);
    const [a, b] = await claim(store, { limit: 2 });
    await store.settle(ending(b!, succeeded));
    expect(await statesOf(store, 'c')).toEqual(['blocked']);
    await store.settle(ending(a!, succeeded));
    expect(await statesOf(store, 'c')).toEqual(['pending']);
  },

  'a diamond and a long chain run in order, whatever their order in the batch': async ({ store }) => {
    const diamond = [childOf('d', ['b', 'c']), childOf('b', ['a']), childOf('c', ['a']), jobSpec('a')];
    await store.insert(diamond, NOW);
    expect(await runAll(store)).toEqual(['a', 'b', 'c', 'd']);
    const names = Array.from({ length: 200 }, (_, i) => `chain-${i}`);
    const chain = names.map((name, i) => (i === 0 ? jobSpec(name) : childOf(name, [names[i - 1]!])));
    await store.insert(chain.toReversed(), NOW);
    expect(await runAll(store)).toEqual(names);
  },

  'a dead job cancels the chain of jobs that need its success, and each reason names the parent': async ({
    store,
  }) => {
    const first = await startJob(store, 'a', oneAttempt);
    await store.insert([childOf('b', ['a']), childOf('c', ['b']), childOf('d', ['any:c'])], NOW);
    await store.settle(ending(first, failedWith(1)));
    expect(await statesOf(store, 'b', 'c', 'd')).toEqual(['cancelled', 'cancelled', 'pending']);
    expect((await store.get('c'))?.lastError).toBe("parent job 'b' was cancelled");
    expect(await store.cancelledDueTo('a')).toEqual(['b', 'c']);
  },

  'a job whose parent failed can be held or run instead of being cancelled': async ({ store }) => {
    const parent = await startJob(store, 'parent', oneAttempt);
    await store.insert(
      [childOf('held', ['parent'], onFailure('hold')), childOf('run', ['parent'], onFailure('run'))],
      NOW,
    );
    await store.settle(ending(parent, failedWith(1)));
    expect(await statesOf(store, 'held', 'run')).toEqual(['held', 'pending']);
    expect(ids(await claim(store, { limit: 5 }))).toEqual(['run']);
    await store.release(['held'], NOW);
    expect(ids(await claim(store))).toEqual(['held']);
  },

  'a parent that has already ended makes a new job ready, cancelled or held at once': async ({ store }) => {
    const good = await startJob(store, 'good', oneAttempt);
    await store.settle(ending(good, succeeded));
    const bad = await startJob(store, 'bad', oneAttempt);
    await store.settle(ending(bad, failedWith(1)));
    const added = await store.insert(
      [
        childOf('a', ['good']),
        childOf('b', ['bad']),
        childOf('c', ['b', 'good']),
        childOf('d', ['bad'], onFailure('hold')),
      ],
      NOW,
    );
    expect(added.map((job) => (job.held ? 'held' : job.state))).toEqual([
      'pending',
      'cancelled',
      'cancelled',
      'held',
    ]);
    expect(added[0]!.blocked).toBe(false);
    expect(ids(await claim(store, { limit: 5 }))).toEqual(['a']);
  },

  'unknown parents, self-dependencies and cycles are refused, and nothing is added': async ({ store }) => {
    const refusalOf = async (jobs: JobSpec[]): Promise<string> => {
      const error: QueueError = await store.insert(jobs, NOW).then(
        () => {
          throw new Error('was not refused');
        },
        (refusal) => refusal,
      );
      expect(await store.list({}, { limit: 1 })).toEqual([]);
      return `${error.code}: ${error.message}`;
    };
    expect(await refusalOf([childOf('a', ['nobody'])])).toBe(
      "job-not-found: job 'a' depends on 'nobody', which does not exist",
    );
    expect(await refusalOf([childOf('a', ['a'])])).toBe("invalid-job: job 'a' cannot depend on itself");
    expect(
      await refusalOf([jobSpec('x'), childOf('a', ['b']), childOf('b', ['c']), childOf('c', ['x', 'a'])]),
    ).toBe("invalid-job: circular dependency: 'a' -> 'b' -> 'c' -> 'a'");
  },

  'an unblocked job still waits until it is due': async ({ store }) => {
    const parent = await startJob(store, 'parent');
    await store.insert([childOf('later', ['parent'], { runAt: NOW + 60_000 })], NOW);
    await store.settle(ending(parent, succeeded));
    expect(await claim(store, {}, NOW + 59_000)).toEqual([]);
    expect(ids(await claim(store, {}, NOW + 60_000))).toEqual(['later']);
  },

  'a held job stays held when its parent completes, and a released one still waits for its parent': async ({
    store,
  }) => {
    const parent = await startJob(store, 'parent');
    await store.insert([childOf('a', ['parent']), childOf('b', ['parent'])], NOW);
    await store.hold(['a', 'b'], NOW);
    await store.release(['b'], NOW);
    expect(await statesOf(store, 'a', 'b')).toEqual(['held', 'blocked']);
    await store.settle(ending(parent, succeeded));
    expect(await statesOf(store, 'a', 'b')).toEqual(['held', 'pending']);
    await store.release(['a'], NOW + 1000);
    expect(ids(await claim(store, { limit: 5 }, NOW + 1000))).toEqual(['a', 'b']);
  },

  'a job that is cancelled while blocked and then retried is blocked again': async ({ store }) => {
    const parent = await startJob(store, 'parent');
    await store.insert([childOf('child', ['parent'])], NOW);
    await store.cancel(['child'], NOW);
    await store.retry(['child'], ['cancelled'], NOW);
    expect(await statesOf(store, 'child')).toEqual(['blocked']);
    await store.cancel(['child'], NOW);
    await store.settle(ending(parent, succeeded));
    await store.retry(['child'], ['cancelled'], NOW);
    expect(await statesOf(store, 'child')).toEqual(['pending']);
  },

  'a job that is retried with its parent waits for it again, and one that is retried alone runs': async ({
    store,
  }) => {
    const fail = async (id: string): Promise<void> => {
      const [job] = await claim(store);
      expect(job!.id).toBe(id);
      await store.settle(ending(job!, failedWith(1)));
    };
    await store.insert([jobSpec('parent', oneAttempt), childOf('child', ['parent'])], NOW);
    await fail('parent');
    await store.retry(['child', 'parent'], ['dead', 'cancelled'], NOW);
    expect(await statesOf(store, 'parent', 'child')).toEqual(['pending', 'blocked']);
    await fail('parent');
    expect(await store.cancelledDueTo('parent')).toEqual(['child']);
    await store.retry(['child'], ['cancelled'], NOW);
    expect(await statesOf(store, 'parent', 'child')).toEqual(['dead', 'pending']);
    expect(await store.cancelledDueTo('parent')).toEqual([]);
  },

  'a job that is retried in a separate step before its parent still waits for it': async ({ store }) => {
    await store.insert(
      [jobSpec('parent', oneAttempt), childOf('child', ['parent']), childOf('last', ['child'])],
      NOW,
    );
    const [job] = await claim(store);
    await store.settle(ending(job!, failedWith(1)));
    for (const id of ['last', 'child', 'parent']) await store.retry([id], ['dead', 'cancelled'], NOW);
    expect(await statesOf(store, 'parent', 'child', 'last')).toEqual(['pending', 'blocked', 'blocked']);
    expect(await runAll(store)).toEqual(['parent', 'child', 'last']);
  },

  'a job that accepts a failed parent waits again if both are retried': async ({ store }) => {
    await store.insert(
      [
        jobSpec('parent', oneAttempt),
        childOf('any', ['any:parent'], oneAttempt),
        childOf('run', ['parent'], { ...oneAttempt, ...onFailure('run') }),
      ],
      NOW,
    );
    for (let [job] = await claim(store); job !== undefined; [job] = await claim(store))
      await store.settle(ending(job, failedWith(1), NOW));
    await store.retry(['any', 'parent', 'run'], ['dead'], NOW);
    expect(await statesOf(store, 'parent', 'any', 'run')).toEqual(['pending', 'blocked', 'blocked']);
  },

  'cancelledDueTo tells which jobs the last end of a job has cancelled, and which an earlier one': async ({
    store,
  }) => {
    const first = await startJob(store, 'parent', oneAttempt);
    await store.insert([childOf('old', ['parent']), childOf('old-child', ['old'])], NOW);
    await store.settle(ending(first, failedWith(1), NOW + 1000));
    await store.retry(['parent'], ['dead'], NOW + 2000);
    const [again] = await claim(store, {}, NOW + 2000);
    expect(await store.cancelledDueTo('parent', 'last')).toEqual([]);
    await store.insert([childOf('new', ['parent']), childOf('new-child', ['new'])], NOW + 2000);
    await store.cancel(['parent'], NOW + 3000);
    await store.settle(ending(again!, { why: 'cancelled' }, NOW + 4000));
    expect(await store.cancelledDueTo('parent', 'last')).toEqual(['new', 'new-child']);
    expect(await store.cancelledDueTo('parent')).toEqual(['old', 'old-child', 'new', 'new-child']);
  },

  'cancelledDueTo omits a job that a user cancelled before its parent failed': async ({ store }) => {
    const parent = await startJob(store, 'parent', oneAttempt);
    await store.insert([childOf('mine', ['parent']), childOf('lost', ['parent'])], NOW);
    await store.cancel(['mine'], NOW);
    await store.settle(ending(parent, failedWith(1)));
    expect(await store.cancelledDueTo('parent')).toEqual(['lost']);
    expect((await store.get('mine'))?.lastError).toBe('cancelled before it ran');
  },

  'a job that is held because its parent failed shows why, and one that was held before gets no second event':
    async ({ store }) => {
      const parent = await startJob(store, 'parent', oneAttempt);
      await store.insert(
        [childOf('a', ['parent'], onFailure('hold')), childOf('b', ['parent'], onFailure('hold'))],
        NOW,
      );
      await store.hold(['b'], NOW);
      await store.settle(ending(parent, failedWith(1)));
      const why = "parent job 'parent' is dead";
      expect([(await store.get('a'))?.lastError, (await store.get('b'))?.lastError]).toEqual([why, why]);
      const held = (await store.events(0, 99)).filter((event) => event.kind === 'held');
      expect(held.map((event) => event.jobId)).toEqual(['b', 'a']);
      await store.release(['a', 'b'], NOW);
      expect((await store.get('a'))?.lastError).toBeNull();
    },

  'a child whose parent has a taken unique key depends on the existing job instead': async ({ store }) => {
    const unique = { key: 'k', while: 'active' as const, forMs: null };
    const first = await startJob(store, 'first', { unique });
    const added = await store.insert([jobSpec('a', { unique }), childOf('b', ['a'])], NOW);
    expect(added).toMatchObject([
      { id: 'first', existing: true },
      { id: 'b', blocked: true },
    ]);
    await store.settle(ending(first, succeeded));
    expect(await statesOf(store, 'b')).toEqual(['pending']);
  },

  'a whole chain can be cancelled or removed in one step': async ({ store }) => {
    await store.insert([jobSpec('a'), childOf('b', ['a']), childOf('c', ['b'])], NOW);
    expect(await store.cancel(['a', 'b', 'c'], NOW)).toMatchObject({ cancelled: ['a', 'b', 'c'], ended: [] });
    await store.insert([jobSpec('d'), childOf('e', ['d'])], NOW);
    expect(await store.remove(['d', 'e'], ['pending'], NOW)).toMatchObject({ ids: ['d', 'e'] });
  },

  'dependencies returns each parent with its state, or null for a removed parent': async ({ store }) => {
    const a = await startJob(store, 'a');
    await store.insert([jobSpec('b'), childOf('child', ['notok:b', 'a'], onFailure('run'))], NOW);
    await store.settle(ending(a, succeeded));
    await store.remove(['a'], ['completed'], NOW);
    expect(await store.dependencies('child')).toEqual([
      { id: 'b', on: 'notok', phase: 'open', state: 'pending' },
      { id: 'a', on: 'ok', phase: 'met', state: null },
    ]);
  },

  'children returns the jobs that depend on a job, also those that no longer wait': async ({ store }) => {
    const a = await startJob(store, 'a');
    await store.insert([childOf('b', ['a']), childOf('c', ['notok:a'], onFailure('hold'))], NOW);
    expect(await store.children('b')).toEqual([]);
    expect(await store.children('a')).toEqual([
      { id: 'b', on: 'ok', phase: 'open', state: 'pending' },
      { id: 'c', on: 'notok', phase: 'open', state: 'pending' },
    ]);
    await store.settle(ending(a, succeeded));
    expect(await store.children('a')).toEqual([
      { id: 'b', on: 'ok', phase: 'met', state: 'pending' },
      { id: 'c', on: 'notok', phase: 'failed', state: 'pending' },
    ]);
  },

  'children, countChildren and cancelledWith stop at a limit': async ({ store }) => {
    await store.insert([jobSpec('a'), jobSpec('b', oneAttempt)], NOW);
    const children = Array.from({ length: 9 }, (_, i) =>
      childOf(`c${i}`, ['a', ...(i % 3 ? [] : ['any:b'])]),
    );
    await store.insert([...children, childOf('grandchild', ['c8'])], NOW);
    // Some dependencies are met, others failed or are open. The children are still in the order of enqueueing.
    for (const id of ['c5', 'c2']) await store.cancel([id], NOW);
    const names = children.map((child) => child.id);
    for (const limit of [0, 1, 4, 9, 20]) {
      expect(ids(await store.children('a', limit))).toEqual(names.slice(0, limit));
      expect(await store.countChildren('a', limit)).toBe(Math.min(limit, 9));
      const cancelled = await store.cancelledWith(['a'], 'cancelled', limit);
      expect(cancelled).toHaveLength(Math.min(limit, 8));
      expect(await store.cancelledWith(['a'], 'cancelled')).toEqual(expect.arrayContaining(cancelled));
    }
    await store.cancel(['a', 'b'], NOW);
    expect(ids(await store.children('a', 7))).toEqual(names.slice(0, 7));
    expect(await store.countChildren('b', 9)).toBe(3);
    expect(await store.countChildren('nobody', 9)).toBe(0);
    expect(await store.children('nobody', 9)).toEqual([]);
  },

  'cancelledWith returns exactly the jobs that a cancel or a removal then cancels': async ({ store }) => {
    for (const end of ['cancelled', 'deleted'] as const) {
      const prefixed = (...names: string[]): string[] => names.map((name) => `${end}-${name}`);
      const [a, other] = prefixed('a', 'other') as [string, string];
      await store.insert(
        [
          ...[jobSpec(a), jobSpec(other), childOf(`${end}-ok`, [a]), childOf(`${end}-any`, [`any:${a}`])],
          ...[childOf(`${end}-notok`, [`notok:${a}`]), childOf(`${end}-holds`, [a], onFailure('hold'))],
          ...[
            childOf(`${end}-runs`, [a], onFailure('run')),
            childOf(`${end}-grandchild`, [`${end}-ok`, other]),
          ],
          ...[childOf(`${end}-freed`, [`notok:${end}-ok`]), childOf(`${end}-held`, [a])],
        ],
        NOW,
      );
      await store.hold([`${end}-held`], NOW);
      const predicted = await store.cancelledWith([a, `${end}-held`], end);
      expect(predicted).toEqual(
        end === 'cancelled' ? prefixed('ok', 'grandchild') : prefixed('ok', 'any', 'notok', 'grandchild'),
      );
      const { dependents } =
        end === 'cancelled'
          ? await store.cancel([a, `${end}-held`], NOW)
          : await store.remove([a, `${end}-held`], ['pending'], NOW);
      expect(dependents.toSorted()).toEqual(predicted.toSorted());
      for (const id of predicted) expect(await store.get(id)).toMatchObject({ state: 'cancelled' });
      expect(await store.cancelledWith([a], end)).toEqual([]);
    }
    const runs = await startJob(store, 'runs', { priority: 99 });
    await store.insert([childOf('child', ['runs'])], NOW);
    expect(await store.cancelledWith(['runs'], 'cancelled')).toEqual(['child']);
    expect(await store.cancelledWith(['runs'], 'deleted')).toEqual([]);
    await store.settle(ending(runs, succeeded));
    expect(await store.cancelledWith(['runs'], 'cancelled')).toEqual([]);
  },

  'ten thousand children are unblocked together, each of them once': async ({ store }) => {
    const parent = await startJob(store, 'parent');
    await store.insert(
      Array.from({ length: 10_000 }, (_, i) => childOf(`child-${i}`, ['parent'])),
      NOW,
    );
    await store.settle(ending(parent, succeeded));
    expect(await claim(store, { limit: 10_001 })).toHaveLength(10_000);
  },
};
