import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { watchCrashPoints } from '../../src/core/crash-point.ts';
import type { ScheduleSpec } from '../../src/core/schedules/schedule.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { allPoints, pointsIn } from '../faults/all-crash-points.ts';
import {
  claimOne,
  claimRequest,
  ending,
  jobSpec,
  LEASE_MS,
  NOW,
  newWorker,
  succeeded,
} from '../support/jobs.ts';
import { inTempDir } from '../support/temp-dir.ts';

const SPEC: ScheduleSpec = {
  ...{ name: 's', overlap: 'skip', catchUp: 'one', job: { command: 'true' } },
  timing: { kind: 'every', everyMs: 1000, anchorAt: NOW },
};
const HOST = newWorker('w').host;
const SUPERVISOR = { id: 's1', pid: 1, startTime: '1', host: HOST };

let passedPoints: string[] = [];

/** Calls every method of the contract that writes, each once and in this order. The compiler finds a missing one. */
const WRITES: Record<Exclude<keyof Store, Reads>, (store: Store) => Promise<unknown>> = {
  note: (store) => store.note({ kind: 'operation-begun' }),
  set: (store) => store.set('max-retries', '2', () => {}),
  setQueue: (store) => store.setQueue('q', { concurrency: 3 }),
  removeQueue: (store) => store.removeQueue('q'),
  registerSupervisor: (store) => store.registerSupervisor(SUPERVISOR),
  register: (store) => store.register(newWorker('w1')),
  beat: (store) => store.beat('w1', false, LEASE_MS, NOW),
  order: (store) => store.order(['w1'], 'drain'),
  handOver: (store) => store.handOver('w1', ['w2']),
  insert: (store) => store.insert([jobSpec('a'), jobSpec('b')], NOW),
  hold: (store) => store.hold(['b'], NOW),
  release: (store) => store.release(['b'], NOW),
  edit: (store) => store.edit(['b'], { priority: 1 }, NOW),
  claim: (store) => store.claim(claimRequest(), NOW),
  signalSent: async (store) => store.signalSent((await store.runningJobs())[0]!.claim, 'SIGINT'),
  wishSignal: (store) => store.wishSignal(['a'], 'SIGINT'),
  setEndReason: async (store) => store.setEndReason((await store.runningJobs())[0]!.claim, 'timeout'),
  adopt: async (store) => store.adopt((await store.runningJobs())[0]!.claim, 'w1'),
  settle: async (store) => store.settle(ending((await store.runningJobs())[0]!, succeeded)),
  cancel: (store) => store.cancel(['a'], NOW),
  retry: (store) => store.retry(['a'], ['cancelled'], NOW),
  addSchedule: (store) => store.addSchedule(SPEC, NOW, NOW),
  fire: async (store) => {
    const schedule = (await store.schedules())[0]!;
    const ticks = [{ at: NOW, mayWait: false, jobId: 'tick' }];
    const rest = { nextAt: NOW + 1000, waitingJobIds: [], job: jobSpec('s') };
    return store.fire([{ schedule, ticks, ...rest }], NOW);
  },
  fireNow: (store) => store.fireNow('s', jobSpec('now'), NOW),
  editSchedule: (store) => store.editSchedule(SPEC, NOW + 1000),
  pauseSchedule: (store) => store.pauseSchedule('s', { at: NOW, by: 'me' }, null),
  removeSchedule: (store) => store.removeSchedule('s'),
  prune: (store) => store.prune('completed', { ageMs: 1, count: null, bytes: null }, NOW + 10 ** 9),
  remove: (store) => store.remove(['a'], ['pending'], NOW),
  forgetKeys: async (store) => {
    await store.insert([jobSpec('keyed')], NOW, undefined, { key: 'k', body: '' });
    passedPoints = [];
    return store.forgetKeys(NOW + 10 ** 9);
  },
  sampleWaiting: (store) => store.sampleWaiting(NOW),
  forgetRollups: (store) => store.forgetRollups(NOW + 10 ** 12),
  pruneEvents: (store) => store.pruneEvents({ ageMs: null, count: 1 }, NOW),
  load: (store) =>
    store.load([], {
      onConflict: 'fail',
      settleLost: (job) => ending(job, { why: 'lost' }),
      keepFile() {},
    }),
  renew: (store) => store.renew((job) => ending(job, { why: 'lost' })),
  unregister: (store) => store.unregister('w1'),
  unregisterSupervisor: (store) => store.unregisterSupervisor('s1'),
};

/** The methods that write nothing to the store. */
type Reads =
  | (
      | 'batching'
      | 'manyHosts'
      | 'sharedOutput'
      | 'epoch'
      | 'get'
      | 'list'
      | 'idsStartingWith'
      | 'counts'
      | 'stateCounts'
      | 'attempts'
      | 'output'
      | 'bytesInFiles'
    )
  | ('agenda' | 'busyQueues' | 'runningJobs' | 'mine' | 'wishes' | 'workers' | 'supervisors' | 'hosts')
  | ('prunable' | 'queues' | 'limitedQueues' | 'schedules' | 'dueSchedules' | 'settings' | 'finishedAttempts')
  | ('insertOn' | 'close' | 'stdin' | 'dependencies' | 'cancelledDueTo' | 'lastEnded' | 'check' | 'events')
  | ('lastEventNumber' | 'lastEventNumberBefore' | 'prunableEvents' | 'keyHolder')
  | (
      | 'eventsOfJob'
      | 'scanEnd'
      | 'deadJobs'
      | 'setAsideCounts'
      | 'children'
      | 'countChildren'
      | 'cancelledWith'
      | 'dump'
    )
  | ('origin' | 'withActor' | 'count' | 'series' | 'breakdown' | 'totals' | 'oldestWaiting' | 'walBytes');

test('every method of the store that writes passes its three crash points', () =>
  inTempDir(async (dir) => {
    passedPoints = [];
    watchCrashPoints((name) => passedPoints.push(name));
    try {
      const { store } = await openSqlite(join(dir, 'queue.db'));
      // The ballast depends on the free space of the disk.
      const points = passedPoints.filter((name) => !name.endsWith('-ballast'));
      expect(points).toEqual(['before-migrate', 'in-migrate', 'after-migrate']);
      for (const [verb, write] of Object.entries(WRITES)) {
        passedPoints = [];
        await write(store);
        // Two methods fold the log first.
        const own = passedPoints.filter((name) => !name.endsWith('-fold'));
        expect(own).toEqual([`before-${verb}`, `in-${verb}`, `after-${verb}`]);
      }
      await store.insert([jobSpec('z')], NOW);
      expect((await claimOne(store)).state).toBe('processing');
      await store.close();
    } finally {
      watchCrashPoints(null);
    }
  }));

test('the fault test F2 covers the crash points of every method that writes', () => {
  const points = allPoints();
  for (const verb of Object.keys(WRITES))
    expect(points).toEqual(expect.arrayContaining([`before-${verb}`, `in-${verb}`, `after-${verb}`]));
});

test('pointsIn finds a crash point even if its call spans several lines', () => {
  expect(pointsIn([`db.write(\n  'setEndReason',\n  () => 1,\n)`, `db\n  .write( 'claim' , f)`])).toEqual(
    ['setEndReason', 'claim']
      .flatMap((verb) => ['before', 'in', 'after'].map((when) => `${when}-${verb}`))
      .sort(),
  );
  expect(pointsIn([`crashPoint(\n  'before-gate',\n)`])).toEqual(['before-gate']);
  expect(pointsIn([`inSteps(\n  'gap', () => f());`])).toEqual(['after-gap', 'before-gap']);
  const three = ['after-gap', 'before-gap', 'in-gap'];
  expect(pointsIn([`inSteps('gap', first, () => f());`])).toEqual(three);
  expect(pointsIn([`{ sync: true, point: 'gap' }`])).toEqual(three);
});

/** Matches calls that change something outside the store. */
const OUTSIDE_CALL =
  /\b(?:spawn|spawnDetached|mkdirSync|(?<!\w)writeSync|writeFileSync|appendFileSync|copyFileSync|renameSync|linkSync|symlinkSync|utimesSync|writeAtomically)\((?!1,)|\bprocess\.kill\((?!.*, 0\))/;
/** Matches a crash point, and steps with such points. */
const POINT = /\b(?:crashPoint|inSteps)\(/;
/** Matches an atomic write with crash points, and a step that becomes an argument of `inSteps`. */
const WITH_POINTS = /\bwriteAtomically\((?=[^;]*\bpoint: ')|^ *const \w+ = \(\): void => .*/gm;
/** Functions and files whose calls need no crash points before and after them, each with the reason. */
const WITHOUT_POINTS: Record<string, string> = {
  'exec/user-programs.ts': 'a file for the editor of the user',
  'exec/start.ts spawnWithBun': 'runs between before-spawn and after-spawn',
  'exec/start.ts spawnWithNode': 'runs between before-spawn and after-spawn',
  'exec/program.ts setProcessName': 'changes only the name of this process',
  'exec/lifeline.ts openGuardEnd': 'changes only the time of the pipe; a guard that dies is started again',
  'exec/lifeline.ts noteLook': 'changes only the time of the pipe, and is repeated',
  'actions/workers/stop-workers.ts stopBySignal': 'only asks workers to stop; a repeated command asks again',
  'exec/trim.ts punch': 'runs between before-punch and after-punch',
  'state/wake.ts makeDirectory': 'makes a watched directory, or runs between two in-touch points',
  'state/lease.ts writeLease': 'after a crash, a guard reads an older lease, and stops its jobs earlier',
  'state/attempt-files.ts createOutput':
    'recreates a removed directory; the first creation is between the points of its caller',
  'files/write.ts writeAll': 'writes a draft, between the points of its caller',
  'files/write.ts writeAtomically': 'runs between the points of its caller',
  'files/text-file.ts createTemporaryText': 'writes a file without a name, which is gone with its process',
  'files/write.ts nameDraft': 'runs between the points of its caller, such as in-backup and after-backup',
  'store/sqlite/care/replace.ts replaceStore': 'creates the directory of a missing store',
  'store/sqlite/care/swap.ts': 'its crash points are named after its steps',
};

test('every call that starts, signals or writes outside the store has a crash point before and after it, except those listed', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^(actions\/|(files|state|exec|worker|store|store\/sqlite\/care)\/[^/]+$)/.test(name),
  );
  const found: string[] = [];
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const functions = functionsWithoutPoints(readFileSync(`src/${file}`, 'utf8')).map(
      (name) => `${file} ${name}`,
    );
    found.push(...functions);
  }
  const listed = (name: string): boolean => name in WITHOUT_POINTS || name.split(' ')[0]! in WITHOUT_POINTS;
  expect(found.filter((name) => !listed(name))).toEqual([]);
  const used = (entry: string): boolean => found.some((name) => `${name} `.startsWith(`${entry} `));
  expect(Object.keys(WITHOUT_POINTS).filter((entry) => !used(entry))).toEqual([]);
});

/** Returns the functions with a call that matches OUTSIDE_CALL but has no crash point right before or after it. */
function functionsWithoutPoints(text: string): string[] {
  const found = new Set<string>();
  let name = '';
  let last: 'point' | 'step' | null = null;
  for (const line of text.replace(WITH_POINTS, '').split('\n')) {
    const begins = /^(?:export )?(?:async )?function (\w+)/.exec(line);
    if (begins !== null) [name, last] = [begins[1]!, null];
    if (/^(import|\}|\/\*|\s*\*)/.test(line)) {
      if (line.startsWith('}') && last === 'step') found.add(name);
      if (line.startsWith('}')) last = null;
    } else if (POINT.test(line)) last = 'point';
    else if (OUTSIDE_CALL.test(line)) {
      if (last !== 'point') found.add(name);
      last = 'step';
    }
  }
  return [...found];
}

test('functionsWithoutPoints finds a call without a crash point before or after it', () => {
  const point = "  crashPoint('x-y');\n";
  const step = '  renameSync(a, b);\n';
  const check = (body: string) => functionsWithoutPoints(`function f(): void {\n${body}}\n`);
  expect(check(point + step + point)).toEqual([]);
  expect(check(point + step + point + step + point)).toEqual([]);
  for (const body of [step, point + step, step + point, point + step + step + point])
    expect(check(body)).toEqual(['f']);
});
