/** enqueue-loop DATABASE MS LOOPS JOBS: enqueues jobs for some time, in several loops of calls. Prints the number of jobs. */
import { openQueue } from '../../src/index.ts';

const [database, ms, loops, jobs] = process.argv.slice(2);
const queue = await openQueue({ db: database! });
const end = performance.now() + Number(ms);
let enqueued = 0;
const loop = async (): Promise<void> => {
  while (performance.now() < end)
    enqueued += (await queue.enqueue(Array<string>(Number(jobs)).fill('true'))).length;
};
await Promise.all(Array.from({ length: Number(loops) }, loop));
process.stdout.write(`${enqueued}\n`);
await queue.close();
