import { expect } from 'bun:test';
import { claimOne, ending, failedWith, jobSpec, NOW, startJob, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

const STDIN_TEXT = 'größe\0\n\u{1f600}'.repeat(1000);
const STDIN_BYTES = Buffer.byteLength(STDIN_TEXT);

export const startOptions: Record<string, Case> = {
  'stdin is stored unchanged, and jobs that are read, listed or claimed have only its size': async ({
    store,
    another,
    close,
  }) => {
    const [added] = await store.insert([jobSpec('a', { stdin: STDIN_TEXT })], NOW);
    expect(added).toMatchObject({ stdin: STDIN_TEXT, stdinBytes: STDIN_BYTES });
    const sizeOnly = { stdin: null, stdinBytes: STDIN_BYTES };
    expect(await store.get('a')).toMatchObject(sizeOnly);
    expect(await store.list({}, { limit: 5 })).toMatchObject([sizeOnly]);
    expect(await claimOne(store)).toMatchObject(sizeOnly);
    await close(store);
    expect(await (await another()).stdin('a')).toBe(STDIN_TEXT);
  },

  'stdin returns null for a job without stdin and for an unknown job': async ({ store }) => {
    await store.insert([jobSpec('a')], NOW);
    expect(await store.get('a')).toMatchObject({ stdin: null, stdinBytes: 0 });
    expect(await store.stdin('a')).toBeNull();
    expect(await store.stdin('nobody')).toBeNull();
  },

  'each job of a large batch has its own stdin or none, and the batch keeps its order': async ({ store }) => {
    const specs = Array.from({ length: 120 }, (_, i) =>
      jobSpec(`job${i}`, i % 7 === 0 ? { stdin: `text of ${i}` } : {}),
    );
    await store.insert(specs, NOW);
    const listed = (await store.list({}, { limit: 200 })).map((job) => job.id).reverse();
    expect(listed).toEqual(specs.map((spec) => spec.id));
    for (const spec of specs) expect(await store.stdin(spec.id)).toBe(spec.stdin);
  },

  'an insert that is refused because of a taken id stores no stdin': async ({ store }) => {
    await store.insert([jobSpec('taken', { stdin: 'first' })], NOW);
    const two = [jobSpec('b', { stdin: 'b' }), jobSpec('taken', { stdin: 'second' })];
    await expect(store.insert(two, NOW)).rejects.toThrow(/'taken'/);
    expect(await store.stdin('b')).toBeNull();
    expect(await store.stdin('taken')).toBe('first');
  },

  'a job with a unique key that is taken stores no stdin': async ({ store }) => {
    const unique = { key: 'k', while: 'active', forMs: null } as const;
    await store.insert([jobSpec('a', { unique, stdin: 'first' })], NOW);
    const [answer] = await store.insert([jobSpec('b', { unique, stdin: 'second' })], NOW);
    expect(answer).toMatchObject({ id: 'a', existing: true, stdin: null, stdinBytes: 5 });
    expect(await store.stdin('a')).toBe('first');
    expect(await store.stdin('b')).toBeNull();
  },

  'stdin is kept for a second attempt, and removed with its job': async ({ store }) => {
    const first = await startJob(store, 'a', { stdin: STDIN_TEXT });
    await store.settle(ending(first, failedWith(1)));
    const second = await claimOne(store, 'w1', NOW + 60_000);
    expect(await store.stdin('a')).toBe(STDIN_TEXT);
    await store.settle(ending(second, succeeded, NOW + 60_000));
    await store.remove(['a'], ['completed'], NOW);
    expect(await store.stdin('a')).toBeNull();
    // A new job with the same id has no stdin.
    await store.insert([jobSpec('a')], NOW);
    expect(await store.stdin('a')).toBeNull();
  },

  'secret names, split output and backoff are stored with the job': async ({ store, another }) => {
    const policy = { backoff: 'linear', retryDelayMs: 0, backoffMaxMs: 1500, jitter: 0.5 } as const;
    const given = { secretEnv: ['TOKEN', 'KEY'], splitOutput: true, policy };
    const [added] = await store.insert([jobSpec('a', given)], NOW);
    expect(added).toMatchObject(given);
    expect(await (await another()).get('a')).toMatchObject(given);
    expect(await claimOne(store)).toMatchObject(given);
    await store.insert([jobSpec('b')], NOW);
    expect(await store.get('b')).toMatchObject({ secretEnv: [], splitOutput: false, policy: {} });
  },
};
