import { afterAll, beforeAll, describe, expect, test as plainTest } from 'bun:test';
import { chmodSync, copyFileSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { readJobObject } from '../../src/core/jobs/job-input.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { NEW_JOB_FIELDS, SCHEMAS } from '../../src/http/schemas.ts';
import { untestedAnswers } from '../support/answers.ts';
import { serve } from '../support/http.ts';
import { inSandbox, sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import {
  testFiguresAndChecks,
  testQueues,
  testSchedules,
  testSettings,
  testStopping,
  testWorkersAndCounts,
} from './api/administration.ts';
import { type Api, addJobs, expectOk, expectRefused, TOMORROW } from './api/calls.ts';
import { testEvents } from './api/events.ts';
import { testJobs } from './api/jobs.ts';
import { testLists } from './api/lists.ts';
import { testOperations } from './api/operations.ts';
import { OUTPUT_LIMIT_BYTES, testOutput } from './api/output.ts';
import { testSharedAnswers } from './api/sharing.ts';

const box = sandbox();
let api: Api;
beforeAll(async () => {
  api = { box, site: await serve(box) };
  await box.run(['config', 'set', 'output-limit', String(OUTPUT_LIMIT_BYTES)]);
  await box.startWorkers('--concurrency', '4');
});
afterAll(() => box.cleanup());

/** The tests of each topic. They use the same server and run in this order. */
const TOPICS = {
  jobs: testJobs,
  'lists of jobs': testLists,
  output: testOutput,
  operations: testOperations,
  queues: testQueues,
  schedules: testSchedules,
  settings: testSettings,
  'workers and counts': testWorkersAndCounts,
  'stopping a worker': testStopping,
  'figures and checks': testFiguresAndChecks,
  events: testEvents,
  'shared answers': testSharedAnswers,
};
for (const [name, testTopic] of Object.entries(TOPICS)) describe(name, () => testTopic(() => api));

test('without its store a server is alive but not ready, and recovers when the store is back', async (ownBox) => {
  const site = await serve(ownBox);
  await addJobs(site, { id: 'kept', command: 'true', ...TOMORROW });
  const file = join(ownBox.home, 'queue.db');
  renameSync(file, `${file}.away`);
  expect((await site.call('GET', '/healthz')).status).toBe(200);
  expect((await site.call('GET', '/readyz', { token: null })).status).toBe(503);
  for (const path of ['/api/v1/jobs', '/api/v1/jobs/kept', '/api/v1/stats', '/api/v1/events']) {
    const { text } = await expectRefused(site, ['GET', path], {}, [503, 'store-unavailable']);
    expect(text).not.toContain(ownBox.directory);
  }
  const body = { command: 'true' };
  await expectRefused(site, ['POST', '/api/v1/jobs'], { body }, [503, 'store-unavailable']);
  renameSync(`${file}.away`, file);
  expect((await site.call('GET', '/readyz', { token: null })).status).toBe(200);
  expect((await expectOk(site, 'GET', '/api/v1/jobs')).jobs.map((job: { id: string }) => job.id)).toEqual([
    'kept',
  ]);
});

test('after its store was replaced, the server reads, follows and changes the new one', async (ownBox) => {
  const site = await serve(ownBox);
  await addJobs(site, { id: 'saved', command: 'true', ...TOMORROW });
  const file = join(ownBox.home, 'queue.db');
  const copy = join(ownBox.directory, 'copy.db');
  expect((await ownBox.run(['backup', copy])).code).toBe(0);
  await addJobs(site, manyJobs('lost', 30));
  const oldStream = await site.events();
  for (const end of ['', '-wal', '-shm']) renameSync(file + end, `${file}.old${end}`);
  copyFileSync(copy, file);
  chmodSync(file, 0o600);
  expect((await site.call('GET', '/readyz', { token: null })).status).toBe(200);
  const ids = async () =>
    (await expectOk(site, 'GET', '/api/v1/jobs')).jobs.map((job: { id: string }) => job.id);
  expect(await ids()).toEqual(['saved']);
  // A client that reconnects gets the events of the new store.
  await until(() => oldStream.isOver, 'the stream of the old store ends');
  const stream = await site.events(oldStream.seen.at(-1)?.id ?? 1000);
  await addJobs(site, { id: 'new', command: 'true', ...TOMORROW });
  expect(await ids()).toEqual(['new', 'saved']);
  await until(() => stream.seen.some(({ data }) => data.job_id === 'new'), 'the event arrives');
  const jobs = await ownBox.json<{ id: string }[]>(['list']);
  expect(jobs.map(({ id }) => id).sort()).toEqual(['new', 'saved']);
  stream.close();
});

const manyJobs = (name: string, jobs: number): object[] =>
  Array.from({ length: jobs }, (_, i) => ({ id: `${name}-${i}`, command: 'true', ...TOMORROW }));

plainTest.skipIf(process.platform !== 'linux')(
  'a server still has a lock on its store after running doctor',
  inSandbox(async (ownBox) => {
    const site = await serve(ownBox);
    await addJobs(site, { id: 'there', command: 'true', ...TOMORROW });
    const inode = statSync(join(ownBox.home, 'queue.db')).ino;
    const locks = (): number =>
      readFileSync('/proc/locks', 'latin1')
        .split('\n')
        .filter((line) => line.includes(` ${site.server.pid} `) && line.includes(`:${inode} `)).length;
    expect(locks()).toBe(1);
    const { checks } = await expectOk(site, 'GET', '/api/v1/doctor');
    expect(checks).toContainEqual({ check: 'journal mode', status: 'ok', says: 'wal', fix: null });
    // Closing any descriptor of the file would drop this lock, and another process could then remove the WAL.
    expect(locks()).toBe(1);
  }),
);

test('a read-only server shows a job and refuses to change anything', async (ownBox) => {
  await ownBox.run(['enqueue', '--id', 'there', '--delay', '1d', 'true']);
  const site = await serve(ownBox, '--read-only');
  const jobBefore = await expectOk(site, 'GET', '/api/v1/jobs/there');
  await expectRefused(site, ['POST', '/api/v1/jobs'], { body: { command: 'true' } }, [403, 'read-only']);
  await expectRefused(site, ['DELETE', '/api/v1/jobs/there'], {}, [403, 'read-only']);
  await expectRefused(site, ['PATCH', '/api/v1/queues/default'], { body: { paused: true } }, [
    403,
    'read-only',
  ]);
  expect(await expectOk(site, 'GET', '/api/v1/jobs/there')).toEqual(jobBefore);
  expect((await expectOk(site, 'GET', '/api/v1/queues/default')).paused).toBe(false);
  expect((await expectOk(site, 'GET', '/api/v1/activity')).events).toHaveLength(1);
});

describe('the OpenAPI document', () => {
  plainTest('is valid OpenAPI 3.1 and has one operation per route', async () => {
    const document = await expectOk(api.site, 'GET', '/api/v1/openapi.json');
    const validator = new Validator();
    expect(await validator.validate(document)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    const operations = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap(
      (path) => Object.values(path).map((one) => one.operationId),
    );
    expect(new Set(operations).size).toBe(ROUTES.length);
  });

  plainTest('describes exactly the schemas that it uses', async () => {
    const document = JSON.stringify(await expectOk(api.site, 'GET', '/api/v1/openapi.json'));
    const used = [...document.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!);
    expect([...new Set(used)].sort()).toEqual(Object.keys(SCHEMAS).sort());
  });

  plainTest('names only existing fields of a job', () => {
    for (const name of Object.keys(NEW_JOB_FIELDS))
      expect(() => {
        const { warnings } = readJobObject({ [name]: null }, 0);
        if (warnings.length > 0) throw new Error(warnings[0]);
      }).not.toThrow();
  });

  plainTest('documents only answers that a test has received', async () => {
    for (const { method, path } of ROUTES) await expectBadRequest(method, path.replaceAll(/\{\w+\}/g, 'x'));
    expect(untestedAnswers()).toEqual([]);
  });
});

async function expectBadRequest(method: string, path: string): Promise<void> {
  expect((await api.site.call(method, `${path}?nonsense=1`)).status).toBe(400);
}
