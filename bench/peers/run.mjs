/**
 * bun bench/peers/run.mjs PEER JOBS LOCATION: adds jobs to a queue, then runs them, 4 at a time, and prints the milliseconds from
 * the start of the queue's worker to the end of the last job. Adding the jobs is not measured. PEER is a file beside this one.
 */
import { spawn } from 'node:child_process';

const SLOTS = 4;

/** Runs the command of one job. */
function runJob() {
  return new Promise((done, fail) => {
    const child = spawn('/bin/sh', ['-c', 'true'], { stdio: 'ignore' });
    child.once('error', fail);
    child.once('exit', (code) => (code === 0 ? done() : fail(new Error(`exit code ${code}`))));
  });
}

const [name, count, location] = process.argv.slice(2);
const jobs = Number(count);
const { open } = await import(`./${name}.mjs`);
const queue = await open(location, { slots: SLOTS });
await queue.add(jobs);
const allEnded = Promise.withResolvers();
let ended = 0;
const start = performance.now();
await queue.work(async () => {
  await runJob();
  if (++ended === jobs) allEnded.resolve();
});
await allEnded.promise;
process.stdout.write(`${performance.now() - start}\n`);
// Some queues need seconds to close. What they still have to do is not measured.
process.exit(0);
