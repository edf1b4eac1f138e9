/**
 * bun bench/peers/run.mjs PEER JOBS LOCATION [SERVER_PID]: adds jobs to a queue, then runs them, 4 at a time. Prints the
 * milliseconds from the start of the queue's worker to the end of the last job, and the CPU time of all processes meanwhile.
 * Adding the jobs is not measured. PEER is a file beside this one.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

const SLOTS = 4;
const TICKS_PER_SECOND = 100;

/** Runs the command of one job. */
function runJob() {
  return new Promise((done, fail) => {
    const child = spawn('/bin/sh', ['-c', 'true'], { stdio: 'ignore' });
    child.once('error', fail);
    child.once('exit', (code) => (code === 0 ? done() : fail(new Error(`exit code ${code}`))));
  });
}

/** Returns the CPU time of a process and of those of its children that have ended. */
function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const ticks = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 16);
  return (ticks.reduce((sum, one) => sum + Number(one), 0) / TICKS_PER_SECOND) * 1000;
}

/** Returns the CPU time of this process and of the server, with its processes. */
function totalCpuMs(serverPid) {
  if (serverPid === undefined) return cpuMs('self');
  const children = readFileSync(`/proc/${serverPid}/task/${serverPid}/children`, 'utf8').trim();
  return ['self', serverPid, ...children.split(' ').filter(Boolean)].map(cpuMs).reduce((a, b) => a + b);
}

const [name, count, location, serverPid] = process.argv.slice(2);
const jobs = Number(count);
const { open } = await import(`./${name}.mjs`);
const queue = await open(location, { slots: SLOTS });
await queue.add(jobs);
const allEnded = Promise.withResolvers();
let ended = 0;
const start = performance.now();
const cpuBefore = totalCpuMs(serverPid);
await queue.work(async () => {
  await runJob();
  if (++ended === jobs) allEnded.resolve();
});
await allEnded.promise;
process.stdout.write(`${performance.now() - start} ${totalCpuMs(serverPid) - cpuBefore}\n`);
// Some queues need seconds to close. What they still have to do is not measured.
process.exit(0);
