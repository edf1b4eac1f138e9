import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { watchCrashPoints } from '../../src/core/crash-point.ts';
import type { ScheduleSpec } from '../../src/core/schedule.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { allPoints } from '../faults/points.ts';
import { claimOne, ending, jobSpec, NOW, newWorker, succeeded, want } from '../support/jobs.ts';
import { inTempDir } from '../support/temp-dir.ts';

const SPEC: ScheduleSpec = {
  ...{ name: 's', overlap: 'skip', catchUp: 'one', job: { command: 'true' } },
  timing: { kind: 'every', everyMs: 1000, anchorAt: NOW },
};
const HOST = newWorker('w').host;
const SUPERVISOR = { id: 's1', pid: 1, startTime: '1', host: HOST };

let passed: string[] = [];

/** Every verb of the contract that changes something, done once, in this order. One that is not here does not compile. */
const WRITES: Record<Exclude<keyof Store, Reads>, (store: Store) => Promise<unknown>> = {
  set: (store) => store.set('max-retries', '2', () => {}),
  setQueue: (store) => store.setQueue('q', { concurrency: 3 }),
  removeQueue: (store) => store.removeQueue('q'),
  registerSupervisor: (store) => store.registerSupervisor(SUPERVISOR),
  register: (store) => store.register(newWorker('w1')),
  beat: (store) => store.beat('w1', false, NOW),
  order: (store) => store.order(['w1'], 'drain'),
  insert: (store) => store.insert([jobSpec('a'), jobSpec('b')], NOW),
  hold: (store) => store.hold(['b'], NOW),
  release: (store) => store.release(['b'], NOW),
  edit: (store) => store.edit(['b'], { priority: 1 }, NOW),
  claim: (store) => store.claim(want(), NOW),
  mark: async (store) => store.mark((await store.running())[0]!.claim, 'timeout'),
  adopt: async (store) => store.adopt((await store.running())[0]!.claim, 'w1'),
  settle: async (store) => store.settle(ending((await store.running())[0]!, succeeded)),
  cancel: (store) => store.cancel(['a'], NOW),
  retry: (store) => store.retry(['a'], ['cancelled'], NOW),
  addSchedule: (store) => store.addSchedule(SPEC, NOW, NOW),
  fire: async (store) => {
    const schedule = (await store.schedules())[0]!;
    const ticks = [{ at: NOW, mayWait: false }];
    return store.fire({ schedule, ticks, nextAt: NOW + 1000 }, () => jobSpec('tick'), NOW);
  },
  fireNow: (store) => store.fireNow('s', jobSpec('now'), NOW),
  editSchedule: (store) => store.editSchedule(SPEC, NOW + 1000),
  pauseSchedule: (store) => store.pauseSchedule('s', { at: NOW, by: 'me' }, null),
  removeSchedule: (store) => store.removeSchedule('s'),
  prune: (store) => store.prune('completed', { ageMs: 1, count: null, bytes: null }, NOW + 10 ** 9),
  remove: (store) => store.remove(['a'], ['pending'], NOW),
  forgetKeys: async (store) => {
    await store.insert([jobSpec('keyed')], NOW, undefined, { key: 'k', body: '' });
    passed = [];
    return store.forgetKeys(NOW + 10 ** 9);
  },
  forgetRollups: (store) => store.forgetRollups(NOW + 10 ** 12),
  pruneEvents: (store) => store.pruneEvents({ ageMs: null, count: 1 }, NOW),
  load: (store) =>
    store.load(
      () => [],
      { onConflict: 'fail' },
      (job) => ending(job, { why: 'lost' }),
    ),
  renew: (store) => store.renew((job) => ending(job, { why: 'lost' })),
  unregister: (store) => store.unregister('w1'),
  unregisterSupervisor: (store) => store.unregisterSupervisor('s1'),
};

type Reads =
  | ('epoch' | 'get' | 'list' | 'startingWith' | 'counts' | 'attempts' | 'output' | 'needsPlace' | 'nextDue')
  | ('busy' | 'running' | 'endings' | 'ordered' | 'workers' | 'supervisors' | 'prunable' | 'queues')
  | ('schedules' | 'nextTick' | 'dueSchedules' | 'settings' | 'finished' | 'close' | 'stdin' | 'dependencies')
  | ('cutOff' | 'lastEnded' | 'check' | 'events' | 'lastEvent' | 'lastEventBefore' | 'prunableEvents')
  | ('keyHolder' | 'eventsOfJob' | 'reach' | 'deadJobs')
  | ('dump' | 'origin' | 'as' | 'count' | 'series' | 'breakdown' | 'totals' | 'oldestWaiting' | 'walBytes');

test('every verb that writes passes its three points', () =>
  inTempDir(async (dir) => {
    passed = [];
    watchCrashPoints((name) => passed.push(name));
    try {
      const { store } = await openSqlite(join(dir, 'queue.db'));
      expect(passed).toEqual(['before-migrate', 'in-migrate', 'after-migrate']);
      for (const [verb, write] of Object.entries(WRITES)) {
        passed = [];
        await write(store);
        expect(passed).toEqual([`before-${verb}`, `in-${verb}`, `after-${verb}`]);
      }
      await store.insert([jobSpec('z')], NOW);
      expect((await claimOne(store)).state).toBe('processing');
      await store.close();
    } finally {
      watchCrashPoints(null);
    }
  }));

test('every step of an attempt outside the store has its points', () => {
  const around = ['place', 'spawn', 'gate', 'signal', 'gap', 'punch', 'short', 'start', 'host'];
  const steps = around.flatMap((step) => [`before-${step}`, `after-${step}`]);
  const others = ['before-output', 'after-exit', 'in-gate', 'before-remove-place', 'before-touch'];
  expect(allPoints()).toEqual(expect.arrayContaining([...steps, ...others]));
});

/** What changes something outside the store: each of these has a point in the same file before it. */
const STEPS = /\b(spawn|process\.kill|mkdirSync|writeSync|writeFileSync|renameSync|linkSync|utimesSync)\(/;
/** Where a step is no part of a job's way, or only asks. */
const FREE = new Set(['editor.ts', 'processes-portable.ts', 'kept-output.ts']);

test('whatever starts, signals or writes in exec has a point in its file', () => {
  for (const name of readdirSync('src/exec')) {
    const text = readFileSync(`src/exec/${name}`, 'utf8');
    if (FREE.has(name) || !STEPS.test(text)) continue;
    expect(`${name} ${/crashPoint\('/.test(text)}`).toBe(`${name} true`);
  }
});
