import { expect, test } from 'bun:test';
import { until } from '../../support/queuectl.ts';
import { type Api, addJobs, expectOk, TOMORROW } from './calls.ts';

/** The path of a page that is so expensive that parallel requests for it share one answer. */
const PAGE_PATH = '/api/v1/jobs?queue=shared&tag=a%3Db&limit=1000';
const PARALLEL_REQUESTS = 8;
const TEST_LIMIT_MS = 30_000;

export function testSharedAnswers(api: () => Api): void {
  const requestInParallel = async (): Promise<void> => {
    const { port, token } = api().site;
    const headers = { authorization: `Bearer ${token}` };
    const request = async () =>
      (await fetch(`http://127.0.0.1:${port}${PAGE_PATH}`, { headers })).arrayBuffer();
    await Promise.all(Array.from({ length: PARALLEL_REQUESTS }, request));
  };
  /** Does the work while clients request the page all the time. */
  const whileRequested = async (work: () => Promise<void>): Promise<void> => {
    let requesting = true;
    const clients = (async () => {
      while (requesting) await requestInParallel();
    })();
    await work().finally(() => {
      requesting = false;
    });
    await clients;
  };
  const newestId = async (): Promise<string> => (await expectOk(api().site, 'GET', PAGE_PATH)).jobs[0].id;
  const job = (id: string): object => ({
    id,
    command: 'true',
    queue: 'shared',
    tags: { a: 'b' },
    ...TOMORROW,
  });

  test(
    'a client sees its own change in its next answer, even if other clients have just requested the same page',
    async () => {
      const { site } = api();
      await addJobs(
        site,
        Array.from({ length: 1000 }, (_, i) => job(`crowd-${i}`)),
      );
      for (let i = 0; i < 3; i++) {
        await requestInParallel();
        await addJobs(site, job(`mine-${i}`));
        expect(await newestId()).toBe(`mine-${i}`);
        const body = { action: 'edit', filter: { queue: 'shared' }, changes: { priority: i + 1 } };
        const { id } = await expectOk(site, 'POST', '/api/v1/operations', body, 202);
        await requestInParallel();
        const state = async () => (await expectOk(site, 'GET', `/api/v1/operations/${id}`)).state;
        await until(async () => (await state()) === 'done', 'it is done');
        const { jobs } = await expectOk(site, 'GET', PAGE_PATH);
        expect(jobs.filter((one: { priority: number }) => one.priority !== i + 1)).toHaveLength(0);
      }
    },
    TEST_LIMIT_MS,
  );

  test(
    'a client that has received an event sees its effect in the next answer',
    async () => {
      const { site, box } = api();
      const stream = await site.events();
      for (let i = 0; i < 3; i++) {
        await whileRequested(async () => {
          const id = `elsewhere-${i}`;
          const flags = ['--id', id, '--queue', 'shared', '--tag', 'a=b', '--delay', '1d', 'true'];
          await box.run(['enqueue', ...flags]);
          await until(() => stream.seen.some(({ data }) => data.job_id === id), 'the event arrives');
          expect(await newestId()).toBe(id);
        });
      }
      stream.close();
    },
    TEST_LIMIT_MS,
  );
}
