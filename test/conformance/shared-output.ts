import { expect } from 'bun:test';
import type { Claim, ClaimedJob, Stream } from '../../src/core/jobs/job.ts';
import type { Gap } from '../../src/state/output.ts';
import type { ExportedFilePart } from '../../src/store/contract/care.ts';
import type { OutputPart, SharedOutput } from '../../src/store/contract/shared-output.ts';
import type { Store } from '../../src/store/store.ts';
import { ending, HOST, NOW, newWorker, startJob, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

const KEEP = 1000;
const of = (store: Store): SharedOutput => store.sharedOutput!;

const part = (
  claim: Claim,
  at: number,
  content: string | Uint8Array,
  stream: Stream = 'stdout',
): OutputPart => ({
  ...{ claim, stream, at },
  bytes: typeof content === 'string' ? Buffer.from(content) : content,
});

const share = (store: Store, claim: Claim, at: number, content: string | Uint8Array, stream?: Stream) =>
  of(store).share([part(claim, at, content, stream)], KEEP);

/** Reads everything that is stored of a stream. A gap becomes `[from-to]`. */
async function readAll(store: Store, { attempt }: Claim, stream: Stream = 'stdout'): Promise<string> {
  let text = '';
  for (let at = 0; ; ) {
    const { bytes, gap, size } = await of(store).sharedRange(attempt, stream, at, 100);
    text += gap === null ? Buffer.from(bytes).toString() : `[${gap.from}-${gap.to}]`;
    at = gap?.to ?? at + bytes.length;
    if (at >= size) return text;
  }
}

/** Reads a stream, of which `all` was written, and compares its bytes. Returns the gaps, and how many bytes are stored. */
async function extentOf(
  store: Store,
  { attempt }: Claim,
  all: Buffer,
): Promise<{ stored: number; gaps: Gap[] }> {
  const found = { stored: 0, gaps: [] as Gap[] };
  for (let at = 0; at < all.length; ) {
    const { bytes, gap, size } = await of(store).sharedRange(attempt, 'stdout', at, 70_000);
    expect(size).toBe(all.length);
    expect(Buffer.from(bytes).equals(all.subarray(at, at + bytes.length))).toBe(true);
    if (gap !== null) found.gaps.push(gap);
    found.stored += bytes.length;
    at = gap?.to ?? at + bytes.length;
  }
  return found;
}

/** Settles a job whose output stays in a file. */
const settleLong = (store: Store, job: ClaimedJob, bytes: number) =>
  store.settle(ending(job, succeeded, NOW, { output: { bytes, truncated: false, kept: null } }));
const prunableBytes = async (store: Store): Promise<number> =>
  (await store.prunable('completed', { ageMs: 1, count: null, bytes: null }, NOW + 1000)).bytes;

export const sharedOutput: Record<string, Case> = {
  'parts of a running attempt can be read on another host, while more are added': async ({
    store,
    another,
  }) => {
    const { claim } = await startJob(store, 'a');
    const far = await another(undefined, 'other');
    expect(await of(far).sharedRange(claim.attempt, 'stdout', 0, 100)).toMatchObject({ size: 0, gap: null });
    expect(await share(store, claim, 0, 'one\n')).toEqual([claim.attempt]);
    expect(await readAll(far, claim)).toBe('one\n');
    await of(store).share([part(claim, 4, 'two\n'), part(claim, 8, 'three\n')], KEEP);
    expect(await readAll(far, claim)).toBe('one\ntwo\nthree\n');
    expect(await far.attempts('a')).toMatchObject([{ outputBytes: 14, finishedAt: null }]);
    const range = await of(far).sharedRange(claim.attempt, 'stdout', 4, 3);
    expect({ ...range, bytes: Buffer.from(range.bytes).toString() }).toEqual({
      ...{ from: 4, bytes: 'two', gap: null, size: 14 },
    });
    const end = await of(far).sharedRange(claim.attempt, 'stdout', -6, 100);
    expect([end.from, Buffer.from(end.bytes).toString()]).toEqual([8, 'three\n']);
  },

  'every byte is stored as it is, also if a character is cut between two parts': async ({ store }) => {
    const { claim } = await startJob(store, 'a');
    const all = Buffer.concat([Uint8Array.from({ length: 256 }, (_, i) => i), Buffer.from('€ü🙂')]);
    for (let at = 0; at < all.length; at += 7) await share(store, claim, at, all.subarray(at, at + 7));
    const { bytes } = await of(store).sharedRange(claim.attempt, 'stdout', 0, 1000);
    expect(Buffer.from(bytes).equals(all)).toBe(true);
  },

  'bytes that were added before are ignored, so a call can be repeated': async ({ store }) => {
    const { claim } = await startJob(store, 'a');
    for (let i = 0; i < 3; i++) await share(store, claim, 0, 'one\ntwo\n');
    await share(store, claim, 4, 'two\nthree\n');
    await of(store).share([part(claim, 0, 'one\n'), part(claim, 4, 'two\nthree\nfour\n')], KEEP);
    expect(await readAll(store, claim)).toBe('one\ntwo\nthree\nfour\n');
    expect(await of(store).sharedEnds([claim.attempt])).toEqual([
      { attempt: claim.attempt, stream: 'stdout', end: 19 },
    ]);
  },

  'only the first and the last bytes are kept, and at most 64 KiB more': async ({ store }) => {
    for (const [id, partBytes] of [
      ['a', 25_000],
      ['b', 1000],
    ] as const) {
      const { claim } = await startJob(store, id);
      const all = Buffer.from(Array.from({ length: 40 * partBytes }, (_, i) => i % 251));
      const keepBytes = 4 * partBytes;
      for (let at = 0; at < all.length; at += partBytes) {
        await of(store).share([part(claim, at, all.subarray(at, at + partBytes))], keepBytes);
        const { stored } = await extentOf(store, claim, all.subarray(0, at + partBytes));
        expect(stored).toBeGreaterThanOrEqual(Math.min(at + partBytes, 2 * keepBytes));
        expect(stored).toBeLessThanOrEqual(2 * keepBytes + 65_536);
      }
      const { gaps } = await extentOf(store, claim, all);
      expect(gaps).toHaveLength(1);
      expect(gaps[0]!.from).toBe(keepBytes);
    }
  },

  'a part may come after a gap': async ({ store }) => {
    const { claim } = await startJob(store, 'a');
    await of(store).share([part(claim, 0, 'head'), part(claim, 5000, 'tail')], KEEP);
    expect(await readAll(store, claim)).toBe('head[4-5000]tail');
    await share(store, claim, 9000, 'end');
    expect(await readAll(store, claim)).toBe('head[4-9000]end');
  },

  'the streams of split output are stored separately': async ({ store }) => {
    const { claim } = await startJob(store, 'a', { splitOutput: true });
    await of(store).share([part(claim, 0, 'out'), part(claim, 0, 'error', 'stderr')], KEEP);
    expect(await readAll(store, claim, 'stdout')).toBe('out');
    expect(await readAll(store, claim, 'stderr')).toBe('error');
    expect(await store.attempts('a')).toMatchObject([{ outputBytes: 8 }]);
  },

  'one call adds parts of several attempts, except of those whose claims are lost': async ({ store }) => {
    const [one, two] = [await startJob(store, 'a'), await startJob(store, 'b')];
    const adopted = await store.adopt(two.claim, 'w2');
    const parts = [part(one.claim, 0, 'mine'), part(two.claim, 0, 'lost')];
    expect(await of(store).share(parts, KEEP)).toEqual([one.claim.attempt]);
    expect(await readAll(store, one.claim)).toBe('mine');
    expect(await of(store).sharedEnds([two.claim.attempt])).toEqual([]);
    expect(await share(store, adopted!.claim, 0, 'adopted')).toEqual([two.claim.attempt]);
    expect(await share(store, two.claim, 7, 'lost')).toEqual([]);
    expect(await readAll(store, two.claim)).toBe('adopted');
  },

  'nothing is added after the attempt was settled': async ({ store }) => {
    const job = await startJob(store, 'a');
    await share(store, job.claim, 0, 'text');
    await settleLong(store, job, 4);
    expect(await share(store, job.claim, 4, 'more')).toEqual([]);
    expect(await readAll(store, job.claim)).toBe('text');
  },

  'short output that is stored with the settlement replaces its parts': async ({ store }) => {
    const job = await startJob(store, 'a');
    await share(store, job.claim, 0, 'te');
    const output = { bytes: 4, truncated: false, kept: Buffer.from('text') };
    await store.settle(ending(job, succeeded, NOW, { output }));
    expect(await of(store).sharedEnds([job.claim.attempt])).toEqual([]);
    expect(Buffer.from((await store.output(job.claim.attempt))!).toString()).toBe('text');
    expect(await prunableBytes(store)).toBe(4);
  },

  'parts of long output stay, count once, and are removed with the job': async ({ store }) => {
    const jobs = [await startJob(store, 'a'), await startJob(store, 'b')];
    for (const job of jobs) {
      await share(store, job.claim, 0, 'head');
      await settleLong(store, job, 50_000);
      expect(await readAll(store, job.claim)).toBe('head');
    }
    expect(await prunableBytes(store)).toBe(100_000);
    await store.remove(['a'], ['completed'], NOW);
    expect(await of(store).sharedEnds(jobs.map(({ claim }) => claim.attempt))).toHaveLength(1);
    await store.prune('completed', { ageMs: 1, count: null, bytes: null }, NOW + 1000);
    expect(await of(store).sharedEnds(jobs.map(({ claim }) => claim.attempt))).toEqual([]);
  },

  'an attempt that is settled without its output, because its host is lost, keeps what was shared': async ({
    store,
  }) => {
    const job = await startJob(store, 'a');
    await share(store, job.claim, 0, 'the last words');
    await store.settle(ending(job, { why: 'lost' }));
    expect(await store.attempts('a')).toMatchObject([{ outputBytes: 14, why: 'lost' }]);
    expect(await readAll(store, job.claim)).toBe('the last words');
    expect(await store.output(job.claim.attempt)).toBeNull();
    expect(await store.bytesInFiles(job.claim.attempt)).toBe(14);
  },

  'an attempt of another host names the directory with its files': async ({ store, another }) => {
    const far = await another(undefined, 'other');
    const host = { ...HOST, id: 'other' };
    await far.register(newWorker('w1', { hostname: 'far', host }));
    const job = await startJob(far, 'a');
    const [running] = await store.attempts('a');
    expect(running).toMatchObject({ otherHost: 'far', otherDirectory: expect.stringContaining('/other/') });
    expect(await far.attempts('a')).toMatchObject([{ otherDirectory: null }]);
    const output = { bytes: 4, truncated: false, kept: Buffer.from('text') };
    await far.settle(ending(job, succeeded, NOW, { output }));
    expect(await store.attempts('a')).toMatchObject([{ otherHost: 'far', otherDirectory: null }]);
  },

  'a dump has the parts of ended attempts as a file, with a mark in the gap': async ({ store }) => {
    const job = await startJob(store, 'a', { splitOutput: true });
    await of(store).share(
      [part(job.claim, 0, 'head'), part(job.claim, 5000, 'tail'), part(job.claim, 0, 'error', 'stderr')],
      KEEP,
    );
    const parts: ExportedFilePart[] = [];
    const keep = (one: ExportedFilePart): void => void parts.push(one);
    await store.dump(() => {}, keep);
    expect(parts).toEqual([]);
    await settleLong(store, job, 6000);
    // The host was restarted since, and another host has the same id.
    for (const boot of ['next', 'copy'])
      await store.register(newWorker(boot, { host: { ...HOST, boot }, hostname: boot }));
    await store.dump(() => {}, keep);
    const textOf = (stream: Stream): string =>
      Buffer.concat(parts.filter((one) => one.stream === stream).map(({ bytes }) => bytes)).toString();
    expect(textOf('stdout')).toBe('head\n[queuectl: 4996 bytes of output dropped here]\ntail');
    expect(textOf('stderr')).toBe('error');
    expect(new Set(parts.map((one) => one.attempt))).toEqual(new Set([job.claim.attempt]));
  },
};
