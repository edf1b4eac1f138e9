import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workersOf } from '../support/processes.ts';
import {
  configure,
  EXECUTABLE,
  type JobJson,
  lines,
  type Sandbox,
  sandbox,
  until,
} from '../support/queuectl.ts';
import { below, randomFrom } from '../support/random.ts';
import type { Fault, Figures } from './fault.ts';

/** Returns the MiB that the slow job prints, the number of jobs that print at the same time, and the output limit. */
const sizes = (mib: number) =>
  mib > 50 ? { slowMib: 10, jobs: 10, limit: '10M' } : { slowMib: 0.25, jobs: 4, limit: '1M' };
/** A worker may use at most this much memory. */
const MAX_WORKER_MIB = 150;
const END_LIMIT_MS = 100_000;
const RECORD_BYTES = 16;
const DROPPED_MARK = /\n\[queuectl: (\d+) bytes of output dropped here\]\n/;

/** Lists the forms of the output, which consists of numbered records, so that each byte can be checked. */
const FORMS = [
  { name: 'lines', filter: 'cat', byte: (one: number) => one },
  { name: 'no newline', filter: "tr '\\n' ' '", byte: (one: number) => (one === 10 ? 32 : one) },
  {
    name: 'binary',
    filter: "tr '0-9\\n' '\\000-\\011\\377'",
    byte: (one: number) => (one === 10 ? 255 : one - 48),
  },
];

/** Lets jobs print a lot at the same time. All must succeed, and dropped output must be marked. */
export const floods: Fault = {
  id: 'F25',
  title: 'Jobs with very large output',
  small: 5,
  full: 110,
  whySkipped: () => (process.platform === 'linux' ? null : 'no /proc'),
  run: floodInSandbox,
};

async function floodInSandbox(mib: number, seed: number): Promise<Figures> {
  const box = sandbox();
  try {
    return await flood(box, mib, seed);
  } finally {
    await box.cleanup();
  }
}

interface Printer {
  id: string;
  records: number;
  form: (typeof FORMS)[number];
  command: string;
}

async function flood(box: Sandbox, mib: number, seed: number): Promise<Figures> {
  const random = randomFrom(seed);
  const { slowMib, jobs, limit } = sizes(mib);
  const witness = join(box.directory, 'witness');
  const printers = Array.from({ length: jobs }, (_, i): Printer => {
    const form = FORMS[i % FORMS.length]!;
    // The last job writes one byte at a time.
    const isSlow = i === jobs - 1;
    const size = (isSlow ? slowMib : mib) * 2 ** 20 + below(random, 5000) * RECORD_BYTES;
    const records = Math.floor(size / RECORD_BYTES);
    const slowPipe = isSlow ? ' | dd bs=1 status=none' : '';
    const command = `seq -f '%015.0f' 0 ${records - 1} | ${form.filter}${slowPipe} && echo j${i} >>'${witness}'`;
    return { id: `j${i}`, records, form, command };
  });
  const file = join(box.directory, 'jobs');
  writeFileSync(file, printers.map(({ id, command }) => `${JSON.stringify({ id, command })}\n`).join(''));
  const added = await box.run(['enqueue', '--file', file]);
  if (added.code !== 0) throw new Error(added.stderr);
  await configure(box, { 'output-limit': limit });
  const start = performance.now();
  await box.startWorkers('--count', '1', '--concurrency', String(jobs));
  const [worker] = await workersOf(box);
  const violations: Figures['violations'] = [];
  const listJobs = async (): Promise<JobJson[]> => box.json<JobJson[]>(['list', '--limit', '1000']);
  const allEnded = async () =>
    (await listJobs()).every((job) => !['pending', 'processing'].includes(job.state));
  await until(allEnded, 'all jobs have ended', END_LIMIT_MS).catch((error: Error) =>
    violations.push({ kind: 'stuck', what: error.message }),
  );
  const seconds = (performance.now() - start) / 1000;
  for (const job of await listJobs())
    if (job.state !== 'completed')
      violations.push({ kind: 'disturbed', what: `${job.id} is ${job.state}: ${job.last_error}` });
  if (new Set(lines(witness)).size !== jobs)
    violations.push({ kind: 'disturbed', what: 'not all jobs ran to their end' });
  const peak = peakMib(worker!.pid);
  if (peak > MAX_WORKER_MIB)
    violations.push({ kind: 'memory', what: `the worker took ${peak.toFixed(0)} MiB` });
  for (const printer of printers) violations.push(...judgeLog(box, printer));
  const bytes = printers.reduce((sum, one) => sum + one.records * RECORD_BYTES, 0);
  const notes = `${(bytes / 2 ** 20).toFixed(0)} MiB in ${seconds.toFixed(1)}s, worker memory at most ${peak.toFixed(0)} MiB`;
  return { jobs, faults: jobs, violations, notes };
}

function peakMib(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(text)![1]) / 1024;
}

/** Checks that the log is what was printed, or its head and tail with a mark for the dropped bytes. */
function judgeLog(box: Sandbox, { id, records, form }: Printer): Figures['violations'] {
  const path = join(box.directory, 'log');
  const file = openSync(path, 'w');
  const { status } = spawnSync(EXECUTABLE, ['logs', id], {
    env: { ...process.env, QUEUECTL_HOME: box.home },
    stdio: ['ignore', file, 'ignore'],
  });
  closeSync(file);
  const wrong = (what: string): Figures['violations'] => [
    { kind: 'log', what: `${id} (${form.name}): ${what}` },
  ];
  if (status !== 0) return wrong(`logs exited with ${status}`);
  const log = readFileSync(path);
  const mark = DROPPED_MARK.exec(log.toString('latin1'));
  const headEnd = mark === null ? log.length : mark.index;
  const tailStart = mark === null ? log.length : mark.index + mark[0].length;
  const dropped = mark === null ? 0 : Number(mark[1]);
  const total = headEnd + dropped + (log.length - tailStart);
  if (total !== records * RECORD_BYTES)
    return wrong(`${records * RECORD_BYTES} bytes were written, the log has ${total}`);
  if (!isPrinted(log.subarray(0, headEnd), 0, form.byte)) return wrong('its head is not what was written');
  if (!isPrinted(log.subarray(tailStart), headEnd + dropped, form.byte))
    return wrong('its tail is not what was written');
  return [];
}

/** Returns whether `found` is the part of the printed output that starts at the byte `from`. */
function isPrinted(found: Uint8Array, from: number, byte: (one: number) => number): boolean {
  let record = -1;
  let wanted = Buffer.alloc(0);
  for (let i = 0; i < found.length; i++) {
    const at = from + i;
    if (Math.floor(at / RECORD_BYTES) !== record) {
      record = Math.floor(at / RECORD_BYTES);
      wanted = Buffer.from(`${String(record).padStart(RECORD_BYTES - 1, '0')}\n`).map(byte) as typeof wanted;
    }
    if (found[i] !== wanted[at % RECORD_BYTES]) return false;
  }
  return true;
}
