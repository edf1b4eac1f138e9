/** P2: 3,000 `true` jobs through one worker with four slots, beside loops in C that only start processes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { frameArguments } from '../src/exec/frame.ts';
import { processes } from '../src/exec/processes.ts';
import { type Lab, must } from './lab.ts';
import { timeInTurn } from './measure.ts';
import { type Summary, summarize } from './numbers.ts';
import type { Row } from './report.ts';

const JOBS = 3000;
const SLOTS = 4;
const ROUNDS = 5;

export function throughput(lab: Lab): Row[] {
  const whole: number[] = [];
  const inside: number[] = [];
  const loop: number[] = [];
  const framed: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const ran = drain(lab);
    whole.push(rate(ran.wholeMs));
    inside.push(rate(ran.insideMs));
    if (lab.tools === null) continue;
    loop.push(rate(cLoop(lab, lab.tools.loop, [])));
    framed.push(rate(cLoop(lab, lab.tools.loop, frame(lab))));
  }
  const own = summarize(whole, 'jobs/s');
  return [
    { name: 'P2', what: 'queuectl, worker start to its end', value: own },
    { name: 'P2', what: 'queuectl, first start to last end', value: summarize(inside, 'jobs/s') },
    beside('C loop, sh -c true', loop, 0.42, own),
    beside('C loop with the same frame', framed, 0.85, own),
  ];
}

function beside(what: string, rates: number[], limit: number, own: Summary): Row {
  const row: Row = { name: 'P2', what, value: null, target: { at: 'least', limit } };
  if (rates.length === 0) return { ...row, skipped: 'no C compiler' };
  const value = summarize(rates, 'jobs/s');
  return { ...row, value, ratio: own.median / value.median };
}

function rate(ms: number): number {
  return (JOBS / ms) * 1000;
}

function drain(lab: Lab): { wholeMs: number; insideMs: number } {
  const home = lab.fresh('p2-store');
  const environment = { QUEUECTL_HOME: home };
  const file = join(home, 'jobs.txt');
  writeFileSync(file, 'true\n'.repeat(JOBS));
  must(lab, [lab.queuectl, 'enqueue', '--quiet', '--file', file], environment);
  const command = [
    lab.queuectl,
    'worker',
    'start',
    '--count',
    '1',
    '--concurrency',
    String(SLOTS),
    '--drain',
  ];
  const [times] = timeInTurn(lab, 1, [{ command, environment }]);
  return { wholeMs: times![0]!, insideMs: insideMs(lab, environment) };
}

/** By the store's own times, which also prove that every job ran, once. */
function insideMs(lab: Lab, environment: Record<string, string>): number {
  const listed = must(lab, [lab.queuectl, 'list', '--limit', String(JOBS + 1), '--json'], environment);
  const jobs: { state: string; attempts: number; started_at: string; finished_at: string }[] =
    JSON.parse(listed);
  const done = jobs.filter((job) => job.state === 'completed' && job.attempts === 1);
  if (done.length !== JOBS) throw new Error(`${done.length} of ${JOBS} jobs completed at the first attempt`);
  const times = (pick: 'started_at' | 'finished_at'): number[] => done.map((job) => Date.parse(job[pick]));
  return Math.max(...times('finished_at')) - Math.min(...times('started_at'));
}

function cLoop(lab: Lab, tool: string, args: string[]): number {
  return Number(must(lab, [tool, String(JOBS), String(SLOTS), ...args])) / 1e6;
}

/** The worker's own shell text. The loop does the least that it needs: no directory per job, nothing removed. */
function frame(lab: Lab): string[] {
  const fixed = { record: 'RECORD', umask: process.umask(), openFiles: processes.inheritedOpenFiles() };
  return [lab.fresh('p2-frames'), ...frameArguments({ ...fixed, command: 'true', argv: null })];
}
