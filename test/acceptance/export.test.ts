import { expect } from 'bun:test';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SettingObject } from '../../src/core/wire/wire.ts';
import { fillQueue } from '../support/filled-queue.ts';
import { startGatedJob } from '../support/gated-job.ts';
import { enqueue, type Sandbox, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const pathIn = (box: Sandbox, name: string): string => join(box.directory, name);

test('exporting an imported queue gives the same lines except for the header, including long and binary output', async (box) => {
  await fillQueue(box);
  const exported = (await box.run(['export'])).stdout;
  await box.json(['export', pathIn(box, 'all.jsonl')]);
  expect(readFileSync(pathIn(box, 'all.jsonl'), 'utf8')).toBe(exported);
  expect(statSync(pathIn(box, 'all.jsonl')).mode & 0o777).toBe(0o600);
  const otherDb = ['--db', pathIn(box, 'other.db')];
  expect(await box.json(['import', pathIn(box, 'all.jsonl'), ...otherDb])).toMatchObject({
    added: { job: 9 },
    skipped: {},
  });
  const exportedAgain = (await box.run(['export', ...otherDb])).stdout;
  const withoutHeader = (text: string): string => text.slice(text.indexOf('\n'));
  expect(withoutHeader(exportedAgain)).toBe(withoutHeader(exported));
  expect(exportedAgain.split('\n')[0]).not.toBe(exported.split('\n')[0]);
  for (const logArgs of ['good', 'bad', 'loud', 'bytes', 'split --stdout', 'split --stderr'])
    expect((await box.run(['logs', ...logArgs.split(' '), ...otherDb])).stdout).toBe(
      (await box.run(['logs', ...logArgs.split(' ')])).stdout,
    );
  expect((await box.run(['logs', 'split', '--stderr', ...otherDb])).stdout.length).toBe(180_006);
  for (const command of [['list'], ['queue', 'list'], ['show', 'bad']])
    expect(await box.json([...command, ...otherDb])).toEqual(await box.json(command));
  // The default lease differs between stores.
  const changedSettings = async (...db: string[]) =>
    (await box.json<SettingObject[]>(['config', 'list', ...db])).filter((setting) => !setting.is_default);
  expect(await changedSettings(...otherDb)).toEqual(await changedSettings());
  const counters = async (...db: string[]) =>
    (await box.run(['metrics', ...db])).stdout.match(/^queuectl_(jobs|attempts)_total.*$/gm);
  expect((await counters())!.length).toBeGreaterThan(3);
  expect(await counters(...otherDb)).toEqual(await counters());
  expect((await box.run(['db', 'check', ...otherDb])).stdout).toBe('ok\n');
  const stdin = { stdin: exported };
  expect((await box.run(['import', '-', '--db', pathIn(box, 'third.db')], stdin)).stdout).toBe('9\n');
});

test('an import with conflicts changes nothing, or skips existing jobs and settings with --on-conflict skip', async (box) => {
  await fillQueue(box);
  await box.json(['export', pathIn(box, 'all.jsonl')]);
  const otherDb = ['--db', pathIn(box, 'other.db')];
  await box.json(['enqueue', '--id', 'loud', 'echo mine', ...otherDb]);
  await box.json(['config', 'set', 'max-retries', '5', ...otherDb]);
  await box.run(['worker', 'start', '--drain', '--quiet', ...otherDb]);
  const exportedBefore = (await box.run(['export', ...otherDb])).stdout;
  expectRefusal(
    await box.run(['import', pathIn(box, 'all.jsonl'), ...otherDb]),
    4,
    /line \d+: setting 'max-retries'/,
  );
  expect((await box.run(['export', ...otherDb])).stdout).toBe(exportedBefore);
  const { added, skipped } = await box.json<{
    added: Record<string, number>;
    skipped: Record<string, number>;
  }>([...['import', '--on-conflict', 'skip', pathIn(box, 'all.jsonl'), ...otherDb]]);
  expect(added.job).toBe(8);
  expect(skipped).toMatchObject({ setting: 1, job: 1, attempt: 1 });
  // The store keeps its own statistics. Adding the imported ones would count some jobs twice.
  expect(added.rollup).toBe(undefined);
  expect(skipped.rollup_kind).toBeGreaterThan(0);
  expect((await box.run(['logs', 'loud', ...otherDb])).stdout).toBe('mine\n');
  expect((await box.run(['logs', 'bad', ...otherDb])).stdout).toBe('no\n');
  expect((await box.run(['config', 'get', 'max-retries', ...otherDb])).stdout).toBe('5\n');
  expect((await box.run(['db', 'check', ...otherDb])).stdout).toBe('ok\n');
  await box.json(['release', 'held', ...otherDb]);
  expect((await box.run(['worker', 'start', '--drain', '--quiet', ...otherDb])).code).toBe(0);
  expect(await box.json(['show', 'held', ...otherDb])).toMatchObject({ state: 'completed' });
});

test('an attempt that runs during an export is lost after the import, and an at-most-once job is then dead', async (box) => {
  await box.startWorkers('--concurrency', '2');
  const job = await startGatedJob(box, 'job');
  await enqueue(box, 'once', 'until test -e go; do sleep 0.05; done', { at_most_once: true });
  await untilState(box, 'once', 'processing');
  await box.json(['export', pathIn(box, 'all.jsonl')]);
  const otherDb = ['--db', pathIn(box, 'other.db')];
  await box.json(['import', pathIn(box, 'all.jsonl'), ...otherDb]);
  expect(await box.json(['show', 'job', ...otherDb])).toMatchObject({
    state: 'pending',
    attempts: 0,
    crashes: 1,
  });
  expect(await box.json(['show', 'once', ...otherDb])).toMatchObject({ state: 'dead' });
  expect((await box.run(['db', 'check', ...otherDb])).stdout).toBe('ok\n');
  job.release();
  writeFileSync(pathIn(box, 'go'), '');
});

test('an import of an invalid or incomplete file is refused and changes nothing', async (box) => {
  await fillQueue(box);
  const lines = (await box.run(['export'])).stdout.trimEnd().split('\n');
  const firstIndexOf = (kind: string): number => lines.findIndex((line) => line.startsWith(`{"${kind}"`));
  const withChangedRow = (kind: string, change: (row: Record<string, unknown>) => void): string => {
    const copy = [...lines];
    const object = JSON.parse(copy[firstIndexOf(kind)]!);
    change(object[kind]);
    copy[firstIndexOf(kind)] = JSON.stringify(object);
    return copy.join('\n');
  };
  const badFiles: [string, RegExp][] = [
    ['', /the file is empty/],
    ['hello\n', /line 1: .*JSON/],
    ['{"id":"x","command":"true"}', /line 1: /],
    ['[]', /line 1: /],
    [lines.slice(0, -1).join('\n'), /the file is incomplete/],
    [lines.filter((_, i) => i !== firstIndexOf('output')).join('\n'), /expected \d+ rows/],
    [[...lines, '{"job":{}}'].join('\n'), /after the end marker/],
    [lines.join('\n').replace('"version":1', '"version":99'), /format 99/],
    [
      withChangedRow('job', (row) => {
        row.state = 'asleep';
      }),
      /line \d+: .*CHECK/,
    ],
    [
      withChangedRow('job', (row) => {
        row.priority = 'high';
      }),
      /line \d+: /,
    ],
    [
      withChangedRow('job', (row) => {
        row.id = 'a\nb';
      }),
      /line \d+: id must not/,
    ],
    [
      withChangedRow('job', (row) => {
        row.env = '{';
      }),
      /line \d+: its env is not valid JSON/,
    ],
    [
      withChangedRow('job', (row) => {
        row.evil = 1;
      }),
      /line \d+: unknown column 'evil' of a job/,
    ],
    [
      withChangedRow('job', (row) => {
        row.number = '1; DROP TABLE job';
      }),
      /line \d+: .*number/,
    ],
    [
      withChangedRow('setting', (row) => {
        row.value = '-5';
      }),
      /line \d+: /,
    ],
    [lines.join('\n').replace('{"queue":', '{"sqlite_schema":'), /line \d+: unknown table/],
  ];
  const otherDb = ['--db', pathIn(box, 'other.db')];
  await box.json(['enqueue', '--id', 'there', 'true', ...otherDb]);
  const exportedBefore = (await box.run(['export', ...otherDb])).stdout;
  for (const [text, message] of badFiles) {
    writeFileSync(pathIn(box, 'bad.jsonl'), text);
    expectRefusal(await box.run(['import', pathIn(box, 'bad.jsonl'), ...otherDb]), 2, message);
    expect((await box.run(['export', ...otherDb])).stdout).toBe(exportedBefore);
  }
  expect(readdirSync(pathIn(box, 'other.db.d/attempts'))).toEqual([]);
  expectRefusal(await box.run(['export', pathIn(box, 'bad.jsonl')]), 4, /already exists/);
  expectRefusal(await box.run(['export', pathIn(box, 'no/where.jsonl')]), 2, /no does not exist/);
  expectRefusal(await box.run(['import', pathIn(box, 'nothing')]), 2, /does not exist/);
  expectRefusal(
    await box.run(['import', '--on-conflict', 'maybe', pathIn(box, 'bad.jsonl')]),
    2,
    /fail or skip/,
  );
});
