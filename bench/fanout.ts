/** Measures how long the store needs to settle a job that 10,000 others wait for, relative to one second. */
import { join } from 'node:path';
import { openSqlite } from '../src/store/sqlite/open.ts';
import { claimOne, ending, jobSpec, NOW, succeeded } from '../test/support/jobs.ts';
import type { Lab } from './lab.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';

const CHILDREN = 10_000;
const RUNS = 5;
const LIMIT_MS = 1000;

export async function fanout(lab: Lab): Promise<Row[]> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { store } = await openSqlite(join(lab.emptyDirectory('fanout'), 'queue.db'));
    await store.insert([jobSpec('parent')], NOW);
    const parent = await claimOne(store);
    await store.insert(
      Array.from({ length: CHILDREN }, (_, i) =>
        jobSpec(`${i}`, { dependsOn: [{ id: 'parent', on: 'ok' }] }),
      ),
      NOW,
    );
    const start = performance.now();
    await store.settle(ending(parent, succeeded));
    times.push(performance.now() - start);
    await store.close();
  }
  const value = summarize(times, 'ms');
  return [
    {
      ...{ name: 'fanout', what: `${CHILDREN} children unblocked, relative to 1s`, value },
      ...{ ratio: value.median / LIMIT_MS, target: { at: 'most', limit: 1 } },
    },
  ];
}
