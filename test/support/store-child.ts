/**
 * Uses a store in a separate process and prints the result as one line of JSON. The first argument is one of:
 *   modes PATH        adds a job, and prints the mode of everything in the parent of the store's directory
 *   race PATH NAME    prints "ready", waits for input, adds five jobs, and claims due jobs until none is left
 */
import { readdirSync, statSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { claim, ids, jobSpec, NOW } from './jobs.ts';

const [what, path = '', name = ''] = process.argv.slice(2);

if (what === 'modes') {
  const { store } = await openSqlite(path);
  await store.insert([jobSpec('a')], NOW);
  const top = dirname(dirname(path));
  const entries = readdirSync(top, { recursive: true, withFileTypes: true });
  const modes = entries.map((entry) => {
    const full = `${entry.parentPath}/${entry.name}`;
    return [relative(top, full), (statSync(full).mode & 0o777).toString(8)];
  });
  console.log(JSON.stringify(Object.fromEntries(modes)));
  await store.close();
} else {
  console.log('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.pause();
  const { store, created } = await openSqlite(path);
  await store.insert(
    Array.from({ length: 5 }, (_, i) => jobSpec(`${name}-${i}`, { queue: `q${i}` })),
    NOW,
  );
  const claimed: string[] = [];
  for (;;) {
    const batch = await claim(store, { workerId: name, limit: 2 });
    if (batch.length === 0) break;
    claimed.push(...ids(batch));
  }
  await store.close();
  console.log(JSON.stringify({ created, claimed }));
}
