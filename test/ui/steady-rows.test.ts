import { expect, test } from 'bun:test';
import { readShown } from '../../ui/jobs/job-pages.ts';
import { keepPlaces } from '../../ui/parts/steady-rows.ts';
import type { Job, JobPage } from '../../ui/types.ts';

interface Row {
  id: string;
  state: string;
}
const rows = (...texts: string[]): Row[] =>
  texts.map((text) => ({ id: text[0]!, state: text.slice(1) || 'new' }));
const keep = (shown: Row[], latest: Row[], also?: Row[]) => keepPlaces(shown, latest, ({ id }) => id, also);

test('shown rows keep their order and get the latest values, and new rows are returned separately', () => {
  const { rows: kept, gone, fresh } = keep(rows('a', 'b', 'c'), rows('x', 'c', 'a2', 'b2'));
  expect(kept).toEqual(rows('a2', 'b2', 'c'));
  expect([...gone]).toEqual([]);
  expect(fresh).toEqual(rows('x'));
});

test('a row that left the list stays with its last values', () => {
  const { rows: kept, gone, fresh } = keep(rows('a', 'b', 'c'), rows('c2'));
  expect(kept).toEqual(rows('a', 'b', 'c2'));
  expect([...gone]).toEqual(['a', 'b']);
  expect(fresh).toEqual([]);
});

test('a row that was pushed off the list is updated and is neither gone nor new', () => {
  const { rows: kept, gone, fresh } = keep(rows('a', 'b'), rows('x', 'a'), rows('b2', 'c'));
  expect(kept).toEqual(rows('a', 'b2'));
  expect([...gone]).toEqual([]);
  expect(fresh).toEqual(rows('x'));
});

const page = (next_cursor: string | null, ...ids: string[]): JobPage => ({
  jobs: ids.map((id) => ({ id }) as Job),
  next_cursor,
  count: { value: ids.length, capped: false },
});

test('the jobs that new ones pushed off the page are read only if they are shown', async () => {
  const asked: string[] = [];
  const read = async (path: string): Promise<JobPage> => {
    asked.push(path);
    return path.includes('cursor') ? page('3', 'b', 'a') : page('7', 'd', 'c');
  };
  const idle = await readShown('/jobs?limit=2', [], read);
  expect([idle.pushed, idle.whole, asked]).toEqual([[], false, ['/jobs?limit=2']]);
  const held = await readShown('/jobs?limit=2', ['c', 'b'], read);
  expect(held.pushed.map(({ id }) => id)).toEqual(['b', 'a']);
  // The cursor is still that of the page, so that the next page leaves no job out.
  expect(held.next_cursor).toBe('7');
  expect(asked.at(-1)).toBe('/jobs?limit=1&cursor=7');
  // If no shown job is on the first page any more, many more jobs are read to find them.
  await readShown('/jobs?limit=2', ['b', 'a'], read);
  expect(asked.at(-1)).toBe('/jobs?limit=202&cursor=7');
});
