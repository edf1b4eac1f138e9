import { expect, test } from 'bun:test';
import { join } from 'node:path';
import type { App } from '../../src/actions/app.ts';
import { follow, outputPaths, readLogs, readOutputRange } from '../../src/actions/output/logs.ts';
import type { AttemptOutput } from '../../src/store/contract/claims.ts';
import { ending, NOW, newWorker, startJob, succeeded } from '../support/jobs.ts';
import { openOnOtherHost } from '../support/other-host.ts';
import { inTempDir } from '../support/temp-dir.ts';

const ON_FAR = { code: 'wrong-state', message: 'the output of attempt 1 is on the host far' };
const RANGE = { ordinal: null, stream: null, from: 0, maxBytes: 100 };

/** Runs `check` on a host that did not run job `a`, which has ended with this output, or is still running for null. */
function withJobOfOtherHost(output: AttemptOutput | null, check: (app: App) => Promise<void>): Promise<void> {
  return inTempDir(async (directory) => {
    const { store, app } = await openOnOtherHost(join(directory, 'queue.db'));
    await store.register(newWorker('w1'));
    const job = await startJob(store, 'a');
    if (output !== null) await store.settle(ending(job, succeeded, NOW + 1, { output }));
    await check(app);
    await store.close();
  });
}

async function textOf(app: App): Promise<string> {
  const { streams } = await readLogs(app, 'a', null, null);
  return streams.map(({ pieces }) => Buffer.concat([...pieces]).toString()).join('');
}

test('long output of an attempt on another host is reported to be there', () =>
  withJobOfOtherHost({ bytes: 1_000_000, truncated: false, kept: null }, async (app) => {
    await expect(textOf(app)).rejects.toMatchObject(ON_FAR);
    await expect(readOutputRange(app, 'a', RANGE)).rejects.toMatchObject(ON_FAR);
    await expect(outputPaths(app, 'a', null, null)).rejects.toMatchObject(ON_FAR);
  }));

test('output of an attempt that runs on another host is reported to be there', () =>
  withJobOfOtherHost(null, async (app) => {
    await expect(textOf(app)).rejects.toMatchObject(ON_FAR);
    await expect(readOutputRange(app, 'a', RANGE)).rejects.toMatchObject(ON_FAR);
  }));

test('short output of an attempt on another host is read from the store', () =>
  withJobOfOtherHost({ bytes: 2, truncated: false, kept: Buffer.from('hi') }, async (app) => {
    expect(await textOf(app)).toBe('hi');
    expect(Buffer.from((await readOutputRange(app, 'a', RANGE)).bytes).toString()).toBe('hi');
    const pieces: string[] = [];
    for await (const item of follow(app, 'a', { ordinal: null, lines: null, only: null, timeoutMs: 1000 }))
      if (item.kind === 'output') pieces.push(Buffer.from(item.data).toString());
    expect(pieces).toEqual(['hi']);
  }));

test('an attempt on another host that wrote nothing has empty output', () =>
  withJobOfOtherHost({ bytes: 0, truncated: false, kept: null }, async (app) => {
    expect(await textOf(app)).toBe('');
  }));
