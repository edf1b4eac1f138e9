/**
 * P2 runs 3,000 empty jobs on one worker with four slots, against C loops that only start processes. It measures a
 * plain command, which the subshell of the frame runs itself, and one that needs a shell of its own.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { frameArguments } from '../src/exec/frame.ts';
import { processes } from '../src/exec/processes.ts';
import { type Lab, runOrThrow } from './lab.ts';
import { measureInTurn } from './measure.ts';
import { type Summary, summarize } from './numbers.ts';
import type { Row } from './report.ts';

export const JOBS = 3000;
const SLOTS = 4;
const ROUNDS = 5;

const COMMANDS = [
  { what: 'plain command', command: 'true', limit: 0.45 },
  { what: 'command with its own shell', command: 'true "$PWD"', limit: 0.36 },
];

export function throughput(lab: Lab): Row[] {
  const loopRates: number[] = [];
  const measured = COMMANDS.map(() => ({
    whole: [] as number[],
    inside: [] as number[],
    framed: [] as number[],
  }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, { command }] of COMMANDS.entries()) {
      const { whole, inside, framed } = measured[i]!;
      const times = drain(lab, command);
      whole.push(rate(times.wallMs));
      inside.push(rate(times.insideMs));
      if (lab.tools !== null) framed.push(rate(cLoop(lab, lab.tools.loop, frame(lab, command))));
    }
    if (lab.tools !== null) loopRates.push(rate(cLoop(lab, lab.tools.loop, [])));
  }
  return COMMANDS.flatMap(({ what, limit }, i) => {
    const { whole, inside, framed } = measured[i]!;
    const own = summarize(whole, 'jobs/s');
    return [
      { name: 'P2', what: `queuectl, ${what}, whole run of the worker`, value: own },
      { name: 'P2', what: `queuectl, ${what}, first start to last end`, value: summarize(inside, 'jobs/s') },
      reference('C loop, sh -c true', loopRates, limit, own),
      reference('C loop with the same frame', framed, 0.8, own),
    ];
  });
}

function reference(what: string, rates: number[], limit: number, own: Summary): Row {
  const row: Row = { name: 'P2', what, value: null, target: { at: 'least', limit } };
  if (rates.length === 0) return { ...row, skipped: 'no C compiler' };
  const value = summarize(rates, 'jobs/s');
  return { ...row, value, ratio: own.median / value.median };
}

export function rate(ms: number): number {
  return (JOBS / ms) * 1000;
}

interface DrainOptions {
  workers?: number;
  /** The slots of each worker. */
  slots?: number;
  /** The URL of an empty queue. The default is a new file. */
  database?: string;
}

/**
 * Runs the jobs. Returns the time and the CPU time of the whole worker process, and the time from the first start to the last
 * end.
 */
export function drain(
  lab: Lab,
  job: string,
  { workers = 1, slots = SLOTS, database }: DrainOptions = {},
): { wallMs: number; cpuMs: number; insideMs: number } {
  const home = lab.emptyDirectory('p2-store');
  const environment = { QUEUECTL_HOME: home, ...(database !== undefined && { QUEUECTL_DB: database }) };
  const file = join(home, 'jobs.txt');
  writeFileSync(file, `${job}\n`.repeat(JOBS));
  runOrThrow(lab, [lab.queuectl, 'enqueue', '--quiet', '--file', file], environment);
  const command = [
    lab.queuectl,
    'worker',
    'start',
    '--count',
    String(workers),
    '--concurrency',
    String(slots),
    '--drain',
  ];
  const { wall, cpu } = measureInTurn(lab, 1, [{ command, environment }]);
  return { wallMs: wall[0]![0]!, cpuMs: cpu[0]![0]!, insideMs: insideMs(lab, environment) };
}

/** Returns the time from the first start to the last end. Throws unless all jobs completed at the first attempt. */
function insideMs(lab: Lab, environment: Record<string, string>): number {
  const listed = runOrThrow(lab, [lab.queuectl, 'list', '--limit', String(JOBS + 1), '--json'], environment);
  const jobs: { state: string; attempts: number; started_at: string; finished_at: string }[] =
    JSON.parse(listed);
  const done = jobs.filter((job) => job.state === 'completed' && job.attempts === 1);
  if (done.length !== JOBS)
    throw new Error(`only ${done.length} of ${JOBS} jobs completed at the first attempt`);
  const times = (pick: 'started_at' | 'finished_at'): number[] => done.map((job) => Date.parse(job[pick]));
  return Math.max(...times('finished_at')) - Math.min(...times('started_at'));
}

/** Runs the C loop and returns its time in milliseconds. */
function cLoop(lab: Lab, tool: string, args: string[]): number {
  return Number(runOrThrow(lab, [tool, String(JOBS), String(SLOTS), ...args])) / 1e6;
}

/** Returns the arguments of the worker's frame. The loop does the minimum: no directory per job, nothing is removed. */
function frame(lab: Lab, command: string): string[] {
  const fixed = {
    record: 'RECORD',
    umask: process.umask(),
    openFileLimit: processes.inheritedOpenFileLimit(),
  };
  return [lab.emptyDirectory('p2-frames'), ...frameArguments({ ...fixed, command, argv: null })];
}
