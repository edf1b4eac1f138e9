import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../src/core/time/clock.ts';
import { throughProgram } from '../support/next-version.ts';
import { configure, type JobJson, lines, type Sandbox, sandbox, until } from '../support/queuectl.ts';
import { below, randomFrom } from '../support/random.ts';
import { inTempDir } from '../support/temp-dir.ts';
import type { Fault, Figures } from './fault.ts';

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const STEP_MS = 100;
/** All jobs must complete within LIMIT_MS plus MS_PER_JOB for each job. */
const LIMIT_MS = 60_000;
const MS_PER_JOB = 300;
/** The first jobs run for this long while the clock moves. If leases expired by that clock, they would be adopted. */
const LONG_SECONDS = 3;

/** Lists names with the offset of the clock in ms at each step. Single jumps come after one second, while jobs run. */
const CASES: [string, (step: number, random: Random) => number][] = [
  ['one hour forward', (step) => (step < 10 ? 0 : HOUR_MS)],
  ['one hour back', (step) => (step < 10 ? 0 : -HOUR_MS)],
  ['one year forward', (step) => (step < 10 ? 0 : YEAR_MS)],
  ['a jump every 100ms', (_step, random) => below(random, 2 * HOUR_MS) - HOUR_MS],
];
/** After this many steps the clock stays two years ahead, so that all due times have passed. */
const UNSTEADY_STEPS = 50;

/** Moves the wall clock of workers and commands with a preloaded library. The monotonic clock is unchanged. */
export const clockSteps: Fault = {
  id: 'F9',
  title: 'The wall clock is set forward and back',
  small: 40,
  full: 1000,
  whySkipped: async () => ((await inTempDir(buildClock)) === null ? 'no C compiler on Linux' : null),
  run: runCases,
};

async function runCases(jobs: number, seed: number, program?: string): Promise<Figures> {
  const runNamed = async ([name, offset]: (typeof CASES)[number], i: number) => {
    const random = randomFrom(seed + i);
    const box = sandbox();
    try {
      const { violations, steps } = await runCase(box, jobs, (step) => offset(step, random), program);
      return { steps, violations: violations.map(({ kind, what }) => ({ kind, what: `${name}: ${what}` })) };
    } finally {
      await box.cleanup();
    }
  };
  const results = await Promise.all(CASES.map(runNamed));
  return {
    jobs: jobs * CASES.length,
    faults: results.reduce((sum, { steps }) => sum + steps, 0),
    violations: results.flatMap(({ violations }) => violations),
    notes: CASES.map(([name]) => name).join(', '),
  };
}

/** Builds the library that moves the clock. Returns null if this is not Linux or there is no C compiler. */
export function buildClock(directory: string): string | null {
  const library = join(directory, 'clock.so');
  const args = ['-shared', '-fPIC', '-O2', '-o', library, join(import.meta.dir, 'clock.c')];
  return process.platform === 'linux' && spawnSync('cc', args).status === 0 ? library : null;
}

/** Returns the environment of a program whose wall clock is moved by the milliseconds in a file. */
export function withClockOffset(library: string, file: string, offsetMs: number): Record<string, string> {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(offsetMs));
  writeFileSync(file, bytes);
  return { LD_PRELOAD: library, CLOCK_OFFSET_FILE: file };
}

async function runCase(
  box: Sandbox,
  count: number,
  offset: (step: number) => number,
  program: string | undefined,
) {
  const library = buildClock(box.directory);
  if (library === null) throw new Error('no C compiler');
  const file = join(box.directory, 'offset');
  const env = withClockOffset(library, file, 0);
  const witness = join(box.directory, 'witness');
  const jobs = jobSpecs(count, witness);
  const list = join(box.directory, 'jobs');
  writeFileSync(list, jobs.map(({ runs: _, ...job }) => `${JSON.stringify(job)}\n`).join(''));
  await configure(box, { 'heartbeat-interval': '300ms', lease: '10s', 'retry-delay': '500ms' });
  const added = await box.run(['enqueue', '--file', list], { env });
  if (added.code !== 0 || added.stderr.includes('warning')) throw new Error(added.stderr);

  const through = program === undefined ? [] : throughProgram(program);
  const args = ['worker', 'start', '--count', '2', '--concurrency', '6'];
  const workers = box.start(args, { env, through });
  await until(() => workers.output().split(' ready ').length > 2, 'two workers are ready');
  let steps = 0;
  let lastOffset = 0;
  const move = (to: number): void => {
    if (to !== lastOffset) steps++;
    lastOffset = to;
    const fd = openSync(file, 'r+');
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(to));
    writeSync(fd, bytes, 0, 8, 0);
    closeSync(fd);
  };
  const violations: Figures['violations'] = [];
  const read = async (): Promise<JobJson[]> => {
    const { stdout } = await box.run(['list', '--limit', '10000', '--json'], { env });
    return JSON.parse(stdout);
  };
  let step = 0;
  const mover = setInterval(() => move(step < UNSTEADY_STEPS ? offset(step++) : 2 * YEAR_MS), STEP_MS);
  const done = async () => (await read()).every((job) => job.state === 'completed');
  await until(done, 'all jobs have completed', LIMIT_MS + count * MS_PER_JOB).catch(async (error: Error) => {
    const remaining = (await read())
      .filter((job) => job.state !== 'completed')
      .map((job) => `${job.id} ${job.state}`);
    violations.push({ kind: 'stuck', what: `${error.message}: ${remaining.slice(0, 10)}` });
  });
  clearInterval(mover);
  const linesById = Map.groupBy(lines(witness), (line) => line);
  for (const { id, runs } of jobs) {
    const times = linesById.get(id)?.length ?? 0;
    if (times !== runs)
      violations.push({ kind: times > runs ? 'run twice' : 'lost', what: `${id} ran ${times} times` });
  }
  for (const job of await read())
    if ((job.duration_ms ?? 0) < 0)
      violations.push({ kind: 'duration', what: `${job.id}: ${job.duration_ms} ms` });
  const adoptions = workers
    .output()
    .split('\n')
    .filter((line) => line.endsWith(' adopted'));
  for (const line of adoptions) violations.push({ kind: 'lease expired', what: line });
  return { violations, steps };
}

/** Returns long, short and delayed jobs, and jobs that fail once or have a timeout. Each must run `runs` times. */
function jobSpecs(count: number, witness: string) {
  return Array.from({ length: count }, (_, i) => {
    const say = `echo j${i} >>'${witness}'`;
    const failFirst = `test -e '${witness}.${i}' || { : >'${witness}.${i}'; exit 1; }`;
    const kinds = [
      { command: say, runs: 1 },
      { command: say, delay: '2s', runs: 1 },
      { command: `${say}; ${failFirst}`, runs: 2 },
      { command: `${say}; sleep 0.2`, timeout: '30s', runs: 1 },
    ];
    const long = { command: `${say}; sleep ${LONG_SECONDS}`, timeout: '60s', priority: 10, runs: 1 };
    return { id: `j${i}`, ...(i < 8 ? long : kinds[i % kinds.length]!) };
  });
}
