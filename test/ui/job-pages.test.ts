import { expect, test } from 'bun:test';
import { readUntilJobs } from '../../ui/jobs/job-pages.ts';
import type { JobPage } from '../../ui/types.ts';

/** Creates a reader of pages with cursors 1000, 900 and so on. Only pages with a cursor up to `maxCursor` have a job. */
function reader(maxCursor: number) {
  const requests: string[] = [];
  const read = async (path: string): Promise<JobPage> => {
    requests.push(path);
    const cursor = Number(new URLSearchParams(path.split('?')[1]).get('cursor') ?? 1000);
    const jobs = (cursor <= maxCursor ? [{ id: `${cursor}` }] : []) as JobPage['jobs'];
    return {
      jobs,
      next_cursor: cursor > 100 ? String(cursor - 100) : null,
      count: { value: 0, capped: true },
    };
  };
  return { requests, read };
}

test('pages without jobs are skipped until one has jobs', async () => {
  const { requests, read } = reader(800);
  const page = await readUntilJobs('/jobs?search=a%26b&limit=50', read);
  expect(page.jobs.map((job) => job.id)).toEqual(['800']);
  expect(requests).toEqual([
    '/jobs?search=a%26b&limit=50',
    '/jobs?search=a%26b&limit=50&cursor=900',
    '/jobs?search=a%26b&limit=50&cursor=800',
  ]);
});

test('skipping stops after five pages and at the end of the list', async () => {
  const far = reader(0);
  expect((await readUntilJobs('/jobs?limit=50', far.read)).next_cursor).toBe('500');
  expect(far.requests).toHaveLength(5);
  const end = reader(0);
  expect((await readUntilJobs('/jobs?limit=50&cursor=200', end.read)).next_cursor).toBe(null);
  expect(end.requests).toHaveLength(2);
});
