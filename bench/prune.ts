/** Measures how much pruning half a million jobs delays a parallel enqueue. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type Lab, runOrThrow } from './lab.ts';
import { timeInTurn } from './measure.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';
import { seed } from './seed.ts';

const RUNS = 300;
const FINISHED_JOBS = 1_000_000;
/** With this limit, 500,000 of the 990,000 completed jobs are removed. */
const KEPT_JOBS = 490_000;

/** A prune may add at most this much to the p99 of enqueue. */
const MAX_DELAY_MS = 50;

/**
 * Enqueues in turn to the pruned store and to a copy that is not pruned. Both have the same disk and load, so the
 * difference is the effect of the prune.
 */
export async function prune(lab: Lab): Promise<Row[]> {
  const pruned = { QUEUECTL_HOME: lab.emptyDirectory('prune') };
  runOrThrow(lab, [lab.queuectl, 'config', 'set', 'keep-completed', String(KEPT_JOBS)], pruned);
  seed(join(pruned.QUEUECTL_HOME, 'queue.db'), { finished: FINISHED_JOBS });
  const notPruned = { QUEUECTL_HOME: lab.emptyDirectory('not-pruned') };
  cpSync(pruned.QUEUECTL_HOME, notPruned.QUEUECTL_HOME, { recursive: true });
  const enqueue = [notPruned, pruned].map((environment) => ({
    command: [lab.queuectl, 'enqueue', 'true'],
    environment,
  }));
  const timesBefore = timeInTurn(lab, RUNS, enqueue).flat();
  const start = performance.now();
  const pruner = spawn(lab.queuectl, ['prune', '--quiet'], {
    env: { ...lab.environment, ...pruned },
    stdio: 'ignore',
  });
  const ended = once(pruner, 'exit');
  const [other, own] = timeInTurn(lab, RUNS, enqueue).map((times) => summarize(times, 'ms'));
  if (pruner.exitCode !== null) throw new Error('the prune ended before it could be measured');
  await ended;
  const delay = summarize([own!.p99 - other!.p99], 'ms');
  return [
    { name: 'prune', what: 'enqueue before, 1,000,000 finished jobs', value: summarize(timesBefore, 'ms') },
    { name: 'prune', what: 'enqueue to a copy that is not pruned', value: other! },
    {
      ...{ name: 'prune', what: 'enqueue to the store while 500,000 jobs are pruned', value: own! },
      ...{ ratio: own!.median / other!.median },
    },
    {
      ...{ name: 'prune', what: `difference of the p99s, relative to ${MAX_DELAY_MS}ms`, value: delay },
      ...{ ratio: delay.median / MAX_DELAY_MS, target: { at: 'most', limit: 1 } },
    },
    { name: 'prune', what: 'the prune itself', value: summarize([performance.now() - start], 'ms') },
  ];
}
