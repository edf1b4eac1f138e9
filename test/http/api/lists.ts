import { expect, test } from 'bun:test';
import type { Site } from '../../support/http.ts';
import { type Api, addJobs, expectOk, expectRefused, pathOfJob, TOMORROW, untilJob } from './calls.ts';

const listIds = async (site: Site, query: string): Promise<string[]> =>
  (await expectOk(site, 'GET', `/api/v1/jobs?queue=listed&${query}`)).jobs.map(
    (job: { id: string }) => job.id,
  );

export function testLists(api: () => Api): void {
  test('every filter finds its jobs', async () => {
    const { site } = api();
    const common = { queue: 'listed', ...TOMORROW };
    await addJobs(site, { id: 'l-name', command: 'true', name: 'Mail', ...common });
    await addJobs(site, { id: 'l-tags', command: 'true', tags: { team: 'a', 'x=y': '1' }, ...common });
    await addJobs(site, { id: 'l-high', command: 'true', priority: 9, ...common });
    await addJobs(site, { id: 'l-text', command: 'echo 100%_Süß', ...common });
    await addJobs(site, {
      id: 'l-dead',
      command: 'echo Disk FULL >&2; exit 7',
      queue: 'listed',
      max_retries: 1,
    });
    expect((await untilJob(site, 'l-dead', 'dead')).exit_code).toBe(7);
    const rows: [query: string, found: string[]][] = [
      ['', ['l-dead', 'l-text', 'l-high', 'l-tags', 'l-name']],
      ['state=dead', ['l-dead']],
      ['state=dead,pending&limit=2', ['l-dead', 'l-text']],
      ['state=dead&state=completed', ['l-dead']],
      ['name=Mail', ['l-name']],
      ['name=mail', []],
      ['tag=team%3Da', ['l-tags']],
      ['tag=team%3Db', []],
      ['tag=team%3Da&tag=nobody%3Da', []],
      ['older-than=1h', []],
      ['older-than=0s', ['l-dead', 'l-text', 'l-high', 'l-tags', 'l-name']],
      ['error=disk%20full', ['l-dead']],
      ['exit-code=7', ['l-dead']],
      ['where=priority%3E5', ['l-high']],
      ['where=attempts%3E%3D1,exit_code!%3D0', ['l-dead']],
      ['search=MAIL', ['l-name']],
      ['search=100%25_', ['l-text']],
      ['search=%25', ['l-text']],
      ['search=_', ['l-text']],
      ['search=team', ['l-tags']],
      ['search=disk', ['l-dead']],
      ['search=l-&limit=2', ['l-dead', 'l-text']],
    ];
    for (const [query, found] of rows)
      expect({ query, found: await listIds(site, query) }).toEqual({ query, found });
    expect(await expectOk(site, 'GET', '/api/v1/jobs?queue=nowhere')).toEqual({
      ...{ jobs: [], next_cursor: null, count: { value: 0, capped: false } },
    });
  });

  test('invalid filters, limits and cursors are refused', async () => {
    const { site } = api();
    for (const query of ['state=nonsense', 'tag=x', 'older-than=soon', 'exit-code=x', 'where=x', 'limit=0'])
      await expectRefused(site, ['GET', `/api/v1/jobs?${query}`], {}, [
        400,
        query.startsWith('older') ? 'invalid-duration' : 'invalid-value',
      ]);
    for (const query of ['limit=1001', 'limit=x', 'limit=-1'])
      await expectRefused(site, ['GET', `/api/v1/jobs?${query}`], {}, [400, 'invalid-value']);
    for (const query of ['cursor=0', 'cursor=x', 'cursor=-1', 'cursor=', "cursor=1'%20OR%201"])
      await expectRefused(site, ['GET', `/api/v1/jobs?${query}`], {}, [400, 'invalid-request']);
  });

  test('paging neither repeats nor misses a job while others are added', async () => {
    const { site } = api();
    const all = Array.from({ length: 57 }, (_, i) => ({
      id: `p-${i}`,
      command: 'true',
      queue: 'paged',
      ...TOMORROW,
    }));
    await addJobs(site, all);
    for (const limit of [1, 7, 19, 57, 58]) {
      const seen: string[] = [];
      let cursor: string | null = '';
      for (let i = 0; cursor !== null; i++) {
        const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const page: { jobs: { id: string }[]; next_cursor: string | null } = await expectOk(
          site,
          'GET',
          `/api/v1/jobs?queue=paged&state=pending&limit=${limit}${next}`,
        );
        expect(page.jobs.length).toBeLessThanOrEqual(limit);
        seen.push(...page.jobs.map((job) => job.id));
        cursor = page.next_cursor;
        if (i % 5 === 0)
          await addJobs(site, { id: `new-${limit}-${i}`, command: 'true', queue: 'paged', ...TOMORROW });
      }
      const listed = seen.filter((id) => id.startsWith('p-'));
      expect(listed).toEqual(all.map((job) => job.id).toReversed());
      expect(new Set(seen).size).toBe(seen.length);
      await expectOk(site, 'GET', pathOfJob('p-0'));
    }
  });

  test('the jobs of a queue are counted completely, and those of a name up to a limit', async () => {
    const { site } = api();
    const countOf = async (query: string) =>
      (await expectOk(site, 'GET', `/api/v1/jobs?limit=1&${query}`)).count;
    for (let i = 0; i < 11; i++)
      await addJobs(
        site,
        Array.from({ length: 1000 }, () => ({
          command: 'true',
          queue: 'crowd',
          name: 'crowd',
          ...TOMORROW,
        })),
      );
    expect(await countOf('queue=crowd')).toEqual({ value: 11_000, capped: false });
    expect(await countOf('name=crowd')).toEqual({ value: 10_000, capped: true });
    expect(await countOf('queue=crowd&name=other')).toEqual({ value: 0, capped: false });
  });
}
