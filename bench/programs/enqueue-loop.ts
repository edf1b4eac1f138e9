/** enqueue-loop DATABASE MS LOOPS JOBS: enqueues jobs for some time, in several loops of calls. Prints the number of jobs. */
import { closeApp, openApp } from '../../src/actions/app.ts';
import { enqueue } from '../../src/actions/jobs/enqueue.ts';

const [database, ms, loops, jobs] = process.argv.slice(2);
const app = await openApp(database!, null, { access: 'write' });
const inputs = Array.from({ length: Number(jobs) }, () => ({ command: 'true' }));
const end = performance.now() + Number(ms);
let enqueued = 0;
const loop = async (): Promise<void> => {
  while (performance.now() < end) {
    const ids = await enqueue(
      app,
      inputs,
      () => '/',
      (job) => job.id,
    );
    enqueued += ids.length;
  }
};
await Promise.all(Array.from({ length: Number(loops) }, loop));
process.stdout.write(`${enqueued}\n`);
await closeApp(app);
