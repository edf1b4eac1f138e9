/**
 * claim-loop DATABASE WORKER BATCH: claims and settles jobs until there are none, and starts no command. Prints a line when it is
 * ready, and begins when it gets a line. Then prints the number of jobs, and the times at which it began and ended.
 */
import { once } from 'node:events';
import { openStore } from '../../src/store/open.ts';
import { claimRequest, ending, newWorker, succeeded } from '../../test/support/jobs.ts';

const [location, workerId, batch] = process.argv.slice(2);
const { store, clock } = await openStore(location!);
await store.register(newWorker(workerId!));
process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdin.pause();
const start = Date.now();
let jobs = 0;
let settlements: ReturnType<typeof ending>[] = [];
do {
  const request = claimRequest({ workerId: workerId!, limit: Number(batch), settlements });
  const claimed = (await store.claim(request, clock.now())).jobs;
  jobs += claimed.length;
  settlements = claimed.map((job) => ending(job, succeeded, clock.now()));
} while (settlements.length > 0);
process.stdout.write(`${jobs} ${start} ${Date.now()}\n`);
await store.close();
