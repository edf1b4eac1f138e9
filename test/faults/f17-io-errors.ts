import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../src/core/time/clock.ts';
import { openDatabase } from '../support/database.ts';
import { type JobJson, lines, type Sandbox, sandbox, until } from '../support/queuectl.ts';
import { below, pick, randomFrom } from '../support/random.ts';
import type { Fault, Figures } from './fault.ts';
import { hasTool } from './syscalls.ts';

/** There is one round with workers for this many enqueue commands. */
const ENQUEUES_PER_WORKER_ROUND = 4;
const JOBS = 20;
const DRAIN_LIMIT_MS = 90_000;
/** The exit code of `store-unavailable`. */
const UNAVAILABLE_CODE = 5;

type Violations = Figures['violations'];

/** Makes a sync or a write of the store's files fail with EIO, in `enqueue` and in workers. */
export const ioErrors: Fault = {
  id: 'F17',
  title: 'I/O errors of the disk',
  small: 6,
  full: 100,
  whySkipped: () => (hasTool('strace') ? null : 'no strace'),
  run: runWithErrors,
};

async function runWithErrors(enqueues: number, seed: number): Promise<Figures> {
  const random = randomFrom(seed);
  const violations: Violations = [];
  let faults = 0;
  let jobs = 0;
  const add = (one: { violations: Violations; faults: number; jobs: number }): void => {
    violations.push(...one.violations);
    faults += one.faults;
    jobs += one.jobs;
  };
  add(await inBox((box) => enqueueWithErrors(box, enqueues, random)));
  for (let round = 0; round * ENQUEUES_PER_WORKER_ROUND < enqueues; round++)
    add(await inBox((box) => workWithErrors(box, random)));
  return { jobs, faults, violations, notes: 'EIO on fsync and pwrite64' };
}

async function inBox<T>(work: (box: Sandbox) => Promise<T>): Promise<T> {
  const box = sandbox();
  try {
    return await work(box);
  } finally {
    await box.cleanup();
  }
}

interface InjectedError {
  call: 'fsync' | 'pwrite64';
  file: string;
  /** Which call fails in each process, counted from 1. */
  nth: number;
}

/** Returns the command prefix that makes a call fail. */
function straceWith(box: Sandbox, { call, file, nth }: InjectedError): string[] {
  return [
    ...[
      'strace',
      '-f',
      '--seccomp-bpf',
      '-qq',
      '-y',
      '-e',
      'signal=none',
      '-o',
      join(box.directory, 'trace'),
    ],
    ...[
      '-P',
      join(box.home, file),
      '-e',
      'trace=fsync,pwrite64',
      '-e',
      `inject=${call}:error=EIO:when=${nth}`,
    ],
  ];
}

interface Call {
  name: string;
  /** Whether the call was made to fail. */
  failed: boolean;
}

/** Returns the traced calls of each process in order, by its pid. */
function tracedCalls(box: Sandbox): Map<string, Call[]> {
  const calls = new Map<string, Call[]>();
  for (const line of readFileSync(join(box.directory, 'trace'), 'latin1').split('\n')) {
    const [, pid, name] = /^(\d+) +(?:<\.\.\. )?(\w+)/.exec(line) ?? [];
    if (pid === undefined || name === undefined || line.includes('<unfinished')) continue;
    calls.set(pid, [...(calls.get(pid) ?? []), { name, failed: line.includes('(INJECTED)') }]);
  }
  return calls;
}

/** Makes calls of `enqueue` fail. Each job is acknowledged and stored, or the first line of stderr is an I/O error. */
async function enqueueWithErrors(box: Sandbox, rounds: number, random: Random) {
  const violations: Violations = [];
  const acknowledged: string[] = [];
  let faults = 0;
  await box.json(['enqueue', 'true']);
  for (let round = 0; round < rounds; round++) {
    const file = pick(random, ['queue.db-wal', 'queue.db-wal', 'queue.db']);
    const call = pick(random, ['fsync', 'pwrite64'] as const);
    const fault = { call, file, nth: 1 + below(random, call === 'fsync' ? 3 : 12) };
    const id = `job-${round}`;
    const result = await box.run(['enqueue', 'true', '--id', id], { through: straceWith(box, fault) });
    const hit = [...tracedCalls(box).values()].some((calls) => calls.some((one) => one.failed));
    if (hit) faults++;
    if (result.code === 0) acknowledged.push(id);
    else if (
      !hit ||
      result.code !== UNAVAILABLE_CODE ||
      !/^error: .*input\/output error\n/.test(result.stderr)
    )
      violations.push({ kind: 'unclear', what: `${JSON.stringify(fault)}: ${JSON.stringify(result)}` });
    // A commit is written to the WAL and synced. Unless both succeed, nothing may be acknowledged.
    if (result.code === 0 && hit && fault.file === 'queue.db-wal' && fault.nth === 1)
      violations.push({ kind: 'false acknowledgement', what: JSON.stringify(fault) });
  }
  const storedIds = new Set((await box.json<JobJson[]>(['list', '--limit', '1000'])).map((job) => job.id));
  for (const id of acknowledged) if (!storedIds.has(id)) violations.push({ kind: 'lost', what: id });
  violations.push(...integrityViolations(box));
  return { violations, faults, jobs: rounds };
}

/** Makes a call of each worker process fail after some commits. The supervisor replaces them until every job has run once. */
async function workWithErrors(box: Sandbox, random: Random) {
  const witness = join(box.directory, 'witness');
  const file = join(box.directory, 'jobs');
  const specs = Array.from({ length: JOBS }, (_, i) => ({
    id: `j${i}`,
    command: `echo j${i} >>'${witness}'`,
  }));
  writeFileSync(file, specs.map((spec) => `${JSON.stringify(spec)}\n`).join(''));
  const { code, stderr } = await box.run(['enqueue', '--file', file]);
  if (code !== 0) throw new Error(stderr);
  const call = pick(random, ['fsync', 'pwrite64'] as const);
  const nth = call === 'fsync' ? 8 + below(random, 20) : 120 + below(random, 300);
  const args = ['worker', 'start', '--count', '2', '--drain'];
  const workers = box.start(args, { through: straceWith(box, { call, file: 'queue.db-wal', nth }) });
  let isDrained = false;
  void workers.exit.then(() => {
    isDrained = true;
  });
  const violations: Violations = [];
  const what = `EIO at ${call} ${nth}`;
  await until(() => isDrained, 'the workers have drained', DRAIN_LIMIT_MS).catch(() => {
    violations.push({ kind: 'stuck', what: `${what}: ${workers.output().slice(-2000)}` });
  });
  const linesById = Map.groupBy(lines(witness), (line) => line);
  for (const { id } of specs) {
    const times = linesById.get(id)?.length ?? 0;
    if (times !== 1) violations.push({ kind: times === 0 ? 'lost' : 'run twice', what: `${what}: ${id}` });
  }
  for (const job of await box.json<JobJson[]>(['list', '--limit', '1000']))
    if (job.state !== 'completed')
      violations.push({ kind: 'stuck', what: `${what}: ${job.id} is ${job.state}` });
  let faults = 0;
  for (const [pid, calls] of tracedCalls(box)) {
    const failedAt = calls.findIndex((one) => one.failed);
    if (failedAt === -1) continue;
    faults++;
    // The process must not commit anything more. The last process that closes the store still syncs the WAL and copies
    // it to the database. That is safe: it copies only commits that were synced before, and the failed commit is
    // removed with the WAL.
    if (calls.slice(failedAt + 1).some((one) => one.name === 'pwrite64'))
      violations.push({ kind: 'went on after EIO', what: `${what}: process ${pid}` });
  }
  violations.push(...integrityViolations(box));
  return { violations, faults, jobs: JOBS };
}

function integrityViolations(box: Sandbox): Violations {
  const db = openDatabase(join(box.home, 'queue.db'));
  try {
    const found = db.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
    const text = found.map((row) => row.integrity_check).join('; ');
    return text === 'ok' ? [] : [{ kind: 'corrupt', what: text }];
  } finally {
    db.close();
  }
}
