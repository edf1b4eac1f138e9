import { expect } from 'bun:test';
import { claimOne, ending, failedWith, NOW, startJob, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

export const output: Record<string, Case> = {
  'stored output is returned unchanged': async ({ store, another, close }) => {
    const bytes = Uint8Array.from({ length: 16 * 1024 }, (_, i) => i % 256);
    const job = await startJob(store, 'a');
    await store.settle(
      ending(job, succeeded, NOW, { output: { bytes: bytes.length, truncated: false, kept: bytes } }),
    );
    expect(await store.attempts('a')).toMatchObject([{ outputBytes: bytes.length, truncated: false }]);
    await close(store);
    const read = await (await another()).output(job.claim.attempt);
    expect(Buffer.from(read!).equals(bytes)).toBe(true);
  },

  'output in a file is returned as null, but its size and truncation are stored': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.settle(
      ending(job, succeeded, NOW, { output: { bytes: 20_000_000, truncated: true, kept: null } }),
    );
    expect(await store.output(job.claim.attempt)).toBeNull();
    expect(await store.attempts('a')).toMatchObject([{ outputBytes: 20_000_000, truncated: true }]);
  },

  'a running or unknown attempt has no output': async ({ store }) => {
    const job = await startJob(store, 'a');
    expect(await store.output(job.claim.attempt)).toBeNull();
    expect(await store.output(999)).toBeNull();
  },

  'each attempt has its own output': async ({ store }) => {
    const kept = (text: string) => ({
      output: { bytes: text.length, truncated: false, kept: Buffer.from(text) },
    });
    const first = await startJob(store, 'a');
    await store.settle(ending(first, failedWith(1), NOW, kept('first')));
    const second = await claimOne(store, 'w1', NOW + 2000);
    await store.settle(ending(second, succeeded, NOW + 2000, kept('second')));
    expect(Buffer.from((await store.output(first.claim.attempt))!).toString()).toBe('first');
    expect(Buffer.from((await store.output(second.claim.attempt))!).toString()).toBe('second');
  },

  'a settlement with a lost claim stores no output': async ({ store }) => {
    const old = await startJob(store, 'a');
    const adopted = await store.adopt(old.claim, 'w2');
    const kept = { output: { bytes: 3, truncated: false, kept: Buffer.from('old') } };
    expect(await store.settle(ending(old, succeeded, NOW, kept))).toBe('lost');
    expect(await store.output(adopted!.claim.attempt)).toBeNull();
  },

  'the streams of split output are stored separately, also if one is empty': async ({ store }) => {
    for (const [id, out, err] of [
      ['both', 'out', 'err'],
      ['out', 'out', ''],
      ['err', '', 'err'],
    ] as const) {
      const job = await startJob(store, id, { splitOutput: true });
      const output = {
        ...{ bytes: out.length + err.length, truncated: false },
        ...{ kept: Buffer.from(out), keptStderr: Buffer.from(err) },
      };
      await store.settle(ending(job, succeeded, NOW, { output }));
      expect(Buffer.from((await store.output(job.claim.attempt, 'stdout'))!).toString()).toBe(out);
      expect(Buffer.from((await store.output(job.claim.attempt, 'stderr'))!).toString()).toBe(err);
      expect(await store.bytesInFiles(job.claim.attempt)).toBeNull();
    }
  },

  'output that was not split has no stderr': async ({ store }) => {
    const job = await startJob(store, 'a');
    const output = { bytes: 3, truncated: false, kept: Buffer.from('all') };
    await store.settle(ending(job, succeeded, NOW, { output }));
    expect(await store.output(job.claim.attempt, 'stderr')).toBeNull();
  },
};
