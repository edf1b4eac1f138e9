import { expect, test } from 'bun:test';
import { readUntilJobs } from '../../ui/job-pages.ts';
import type { JobPage } from '../../ui/types.ts';

/** Creates a reader of a list whose jobs all have numbers up to `at`. */
function reader(at: number) {
  const asked: string[] = [];
  const read = async (path: string): Promise<JobPage> => {
    asked.push(path);
    const cursor = Number(new URLSearchParams(path.split('?')[1]).get('cursor') ?? 1000);
    const jobs = (cursor <= at ? [{ id: `${cursor}` }] : []) as JobPage['jobs'];
    return {
      jobs,
      next_cursor: cursor > 100 ? String(cursor - 100) : null,
      count: { value: 0, capped: true },
    };
  };
  return { asked, read };
}

test('pages without jobs are skipped until there are some', async () => {
  const { asked, read } = reader(800);
  const page = await readUntilJobs('/jobs?search=a%26b&limit=50', read);
  expect(page.jobs.map((job) => job.id)).toEqual(['800']);
  expect(asked).toEqual([
    '/jobs?search=a%26b&limit=50',
    '/jobs?search=a%26b&limit=50&cursor=900',
    '/jobs?search=a%26b&limit=50&cursor=800',
  ]);
});

test('skipping stops after a limit and at the end', async () => {
  const far = reader(0);
  expect((await readUntilJobs('/jobs?limit=50', far.read)).next_cursor).toBe('500');
  expect(far.asked).toHaveLength(5);
  const end = reader(0);
  expect((await readUntilJobs('/jobs?limit=50&cursor=200', end.read)).next_cursor).toBe(null);
  expect(end.asked).toHaveLength(2);
});
