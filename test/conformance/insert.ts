import { expect } from 'bun:test';
import { QueueError } from '../../src/core/errors.ts';
import { claimOne, ids, jobSpec, NOW } from '../support/jobs.ts';
import type { Case } from './topic.ts';

const AWKWARD_COMMANDS = [
  'echo \'single\' "double" `back` $HOME $(date) \\ \t; exit 3',
  'first line\nsecond line\r\nthird',
  'ünïcödé 日本語 🚀 \u0001\u001f',
  "'); DROP TABLE job; --",
  `echo ${'x'.repeat(100_000)}`,
];

export const insert: Record<string, Case> = {
  'insert adds all jobs and returns them as they are stored': async ({ store }) => {
    const specs = [
      jobSpec('a'),
      jobSpec('b', {
        argv: ['printf', '%s', '', 'two words'],
        queue: 'mail',
        priority: -7,
        maxRetries: 0,
        timeoutMs: 1500,
        runAt: NOW + 60_000,
        backoffBase: 1.5,
        cwd: '/tmp/with space',
        env: { KEY: 'a=b', EMPTY: '' },
        tags: { team: 'ops' },
      }),
    ];
    const added = await store.insert(specs, NOW);
    expect(ids(added)).toEqual(['a', 'b']);
    for (const [i, job] of added.entries()) {
      expect(job).toMatchObject(specs[i]!);
      expect(await store.get(job.id)).toEqual(job);
    }
  },

  'a new job is pending, has no attempts and is due at its time': async ({ store }) => {
    const [now, later] = await store.insert([jobSpec('now'), jobSpec('later', { runAt: NOW + 5000 })], NOW);
    expect(now).toMatchObject({ state: 'pending', attempts: 0, crashes: 0, createdAt: NOW, updatedAt: NOW });
    expect(now).toMatchObject({
      dueAt: NOW,
      workerId: null,
      startedAt: null,
      finishedAt: null,
      exitCode: null,
    });
    expect(later).toMatchObject({ state: 'pending', dueAt: NOW + 5000, runAt: NOW + 5000 });
  },

  'insert takes an iterable of any length, and returns what `keep` returns for each job': async ({
    store,
  }) => {
    for (const count of [1, 49, 50, 51, 230]) {
      function* specs() {
        for (let i = 0; i < count; i++)
          yield jobSpec(`${count}-${i}`, { queue: i % 2 ? 'odd' : 'even', priority: i });
      }
      const added = await store.insert({ [Symbol.iterator]: specs }, NOW, (job) => `<${job.id}>`);
      expect(added).toEqual([...specs()].map((spec) => `<${spec.id}>`));
      const listed = await store.list({}, { limit: count });
      expect(ids(listed).reverse()).toEqual(ids([...specs()]));
      for (const spec of specs()) expect(await store.get(spec.id)).toMatchObject(spec);
    }
    expect((await store.counts()).reduce((sum, { jobs }) => sum + jobs, 0)).toBe(381);
  },

  'an iterable that fails halfway adds nothing': async ({ store }) => {
    function* specs() {
      for (let i = 0; i < 120; i++) yield jobSpec(`job-${i}`, { queue: 'new' });
      throw new QueueError('invalid-job', 'line 121: bad');
    }
    await expect(store.insert({ [Symbol.iterator]: specs }, NOW)).rejects.toThrow('line 121: bad');
    expect(await store.list({}, { limit: 10 })).toEqual([]);
    expect(await store.counts()).toEqual([]);
    await store.insert([jobSpec('after')], NOW);
    expect(ids(await store.list({}, { limit: 10 }))).toEqual(['after']);
  },

  'an id that occurs twice in a long batch is named in the error': async ({ store }) => {
    const specs = Array.from({ length: 130 }, (_, i) => jobSpec(`job-${i}`));
    for (const taken of ['job-0', 'job-49', 'job-50', 'job-77', 'job-129']) {
      const rejected = store.insert([...specs, jobSpec(taken)], NOW);
      await expect(rejected).rejects.toMatchObject({
        code: 'job-exists',
        message: expect.stringContaining(`'${taken}'`),
      });
      expect(await store.counts()).toEqual([]);
    }
  },

  'an insert without jobs is not an error': async ({ store }) => {
    expect(await store.insert([], NOW)).toEqual([]);
    expect(await store.counts()).toEqual([]);
  },

  'an unknown id has no job and no attempts': async ({ store }) => {
    expect(await store.get('nobody')).toBeNull();
    expect(await store.attempts('nobody')).toEqual([]);
  },

  'commands are stored unchanged': async ({ store }) => {
    await store.insert(
      AWKWARD_COMMANDS.map((command, i) => jobSpec(`job-${i}`, { command })),
      NOW,
    );
    for (const [i, command] of AWKWARD_COMMANDS.entries()) {
      expect((await store.get(`job-${i}`))?.command).toBe(command);
    }
  },

  'ids that differ in one character or in case are different ids': async ({ store }) => {
    const alike = ['job', 'Job', 'job ', 'jöb', 'jo\u0308b', "j'ob", 'j%b', 'j_b'];
    await store.insert(
      alike.map((id) => jobSpec(id)),
      NOW,
    );
    for (const id of alike) expect((await store.get(id))?.id).toBe(id);
    expect(await store.get('JOB')).toBeNull();
  },

  'an id that exists is refused, and its job stays unchanged': async ({ store }) => {
    const [original] = await store.insert([jobSpec('a', { command: 'true' })], NOW);
    const again = store.insert([jobSpec('a', { command: 'false' })], NOW + 1);
    await expect(again).rejects.toMatchObject({
      code: 'job-exists',
      message: expect.stringContaining("'a'"),
    });
    expect(await store.get('a')).toEqual(original!);
  },

  'a batch with a taken id is refused as a whole': async ({ store }) => {
    await store.insert([jobSpec('taken')], NOW);
    const batch = [jobSpec('a', { queue: 'new' }), jobSpec('taken'), jobSpec('b')];
    await expect(store.insert(batch, NOW)).rejects.toMatchObject({ code: 'job-exists' });
    expect(await store.get('a')).toBeNull();
    expect(await store.get('b')).toBeNull();
    expect(await store.counts()).toEqual([{ queue: 'default', state: 'pending', jobs: 1 }]);
  },

  'a batch that contains an id twice is refused': async ({ store }) => {
    const batch = [jobSpec('a'), jobSpec('b'), jobSpec('a')];
    await expect(store.insert(batch, NOW)).rejects.toMatchObject({ code: 'job-exists' });
    expect(await store.list({}, { limit: 10 })).toEqual([]);
  },

  'a store continues to work after a refusal': async ({ store }) => {
    await store.insert([jobSpec('a')], NOW);
    await expect(store.insert([jobSpec('a')], NOW)).rejects.toMatchObject({ code: 'job-exists' });
    await store.insert([jobSpec('b')], NOW);
    expect(ids(await store.list({}, { limit: 10 }))).toEqual(['b', 'a']);
  },

  'jobs outlive the connection that added them': async ({ store, another, close }) => {
    const added = await store.insert([jobSpec('a'), jobSpec('b', { queue: 'mail', tags: { x: 'y' } })], NOW);
    const { epoch } = store;
    await close(store);
    const next = await another();
    for (const job of added) expect(await next.get(job.id)).toEqual(job);
    expect(next.epoch).toBe(epoch);
  },

  'another connection sees a job as soon as it is added': async ({ store, another }) => {
    const other = await another();
    await store.insert([jobSpec('a')], NOW);
    expect((await other.get('a'))?.id).toBe('a');
    await expect(other.insert([jobSpec('a')], NOW)).rejects.toMatchObject({ code: 'job-exists' });
  },

  'the id of a running job is refused, and the job continues': async ({ store }) => {
    await store.insert([jobSpec('a')], NOW);
    const claimed = await claimOne(store);
    await expect(store.insert([jobSpec('a')], NOW)).rejects.toMatchObject({ code: 'job-exists' });
    expect((await store.get('a'))?.state).toBe('processing');
    expect(await store.setEndReason(claimed.claim, 'stopped')).toBe(true);
  },
};
