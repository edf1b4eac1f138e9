/**
 * Compares scripts that add 600 jobs one by one, `sh -c true`, while 4 at a time are run, until all have ended. This is how people
 * use a queue from a shell, so it includes the start of a process for each job.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createStore, type Lab, runOrThrow } from './lab.ts';
import { stop, untilReady } from './latency.ts';
import { timeInTurn } from './measure.ts';
import { rowsOf, toolVariables } from './peer-rows.ts';
import type { Row } from './report.ts';

const JOBS = 600;
const ROUNDS = 5;
/** Runs `$add` for each job. */
const repeat = (add: string): string => `i=0; while [ $i -lt ${JOBS} ]; do ${add}; i=$((i + 1)); done`;
const LINES = `{ ${repeat('echo true')}; }`;

interface Contender {
  what: string;
  program: string;
  /** Adds the jobs and waits until all have ended. */
  script: string;
  /** Fails if a job has not ended. */
  check?: string;
}

const UNTIL_ENDED = '"$queuectl" wait --state pending,processing';
const ALL_COMPLETED = `[ "$("$queuectl" list --state completed --limit ${JOBS + 1} --json | tr '}' '\\n' | grep -c '"id"')" = ${JOBS} ]`;

const CONTENDERS: Contender[] = [
  {
    what: 'queuectl enqueue for each job',
    program: 'queuectl',
    script: `${repeat('"$queuectl" enqueue true')}; ${UNTIL_ENDED} || :`,
    check: ALL_COMPLETED,
  },
  {
    what: 'queuectl enqueue --file - --stream',
    program: 'queuectl',
    script: `${LINES} | "$queuectl" enqueue --file - --stream; ${UNTIL_ENDED} || :`,
    check: ALL_COMPLETED,
  },
  {
    what: 'queuectl enqueue --file -',
    program: 'queuectl',
    script: `${LINES} | "$queuectl" enqueue --file -; ${UNTIL_ENDED} || :`,
    check: ALL_COMPLETED,
  },
  {
    what: 'task-spooler',
    program: 'tsp',
    script: `${repeat('tsp sh -c true')}; tsp -w`,
    check: '! tsp -l | grep -E " (running|queued) "; tsp -K',
  },
  {
    what: 'nq, four queues',
    program: 'nq',
    script: `${repeat('NQDIR=$work/$((i % 4)) nq sh -c true')}; for q in 0 1 2 3; do NQDIR=$work/$q nq -w; done`,
  },
  {
    what: 'GNU parallel, no queue',
    program: 'parallel',
    script: `${LINES} | parallel --will-cite -j 4`,
  },
  { what: 'xargs -P 4, no queue', program: 'xargs', script: `${LINES} | xargs -P 4 -I @ sh -c @` },
];

export async function loop(lab: Lab): Promise<Row[]> {
  const contenders = CONTENDERS.map((one) => ({
    ...one,
    run: one.program === 'queuectl' || Bun.which(one.program) !== null,
  }));
  const times = contenders.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, one] of contenders.entries()) if (one.run) times[i]!.push(await runOnce(lab, one));
  return rowsOf('loop', contenders, times, (ms) => (JOBS / ms) * 1000);
}

/** Runs the script of a contender and returns its milliseconds. The worker of queuectl and the server of tsp run already. */
async function runOnce(lab: Lab, { program, script, check }: Contender): Promise<number> {
  const work = lab.emptyDirectory('peer-loop');
  const environment = {
    ...toolVariables(lab),
    ...{ work, queuectl: lab.queuectl, QUEUECTL_HOME: work, TMPDIR: work },
    ...{ TS_SOCKET: `${work}/socket`, TS_MAXFINISHED: String(JOBS) },
  };
  const worker = program === 'queuectl' ? await startWorker(lab, environment) : null;
  if (program === 'tsp') runOrThrow(lab, ['tsp', '-S', '4'], environment);
  try {
    const [times] = timeInTurn(lab, 1, [{ command: ['/bin/sh', '-c', script], environment }]);
    if (check !== undefined) runOrThrow(lab, ['/bin/sh', '-c', `set -e; ${check}`], environment);
    return times![0]!;
  } finally {
    if (worker !== null) await stop(worker);
  }
}

async function startWorker(lab: Lab, environment: Record<string, string>): Promise<ChildProcess> {
  createStore(lab, environment);
  const worker = spawn(lab.queuectl, ['worker', 'start', '--concurrency', '4', '--quiet'], {
    env: { ...lab.environment, ...environment },
    stdio: 'ignore',
  });
  await untilReady(lab, environment);
  return worker;
}
