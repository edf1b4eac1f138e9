/** What an enqueue notices of half a million jobs being pruned beside it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Lab, must } from './lab.ts';
import { timeInTurn } from './measure.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';
import { seed } from './seed.ts';

const RUNS = 300;
const FINISHED = 1_000_000;
/** Of the completed ones, which are 99 of 100: half a million go. */
const KEPT = 490_000;

export async function prune(lab: Lab): Promise<Row[]> {
  const home = lab.fresh('prune');
  const environment = { QUEUECTL_HOME: home };
  must(lab, [lab.queuectl, 'config', 'set', 'keep-completed', String(KEPT)], environment);
  seed(join(home, 'queue.db'), FINISHED, 0);
  const enqueue = [{ command: [lab.queuectl, 'enqueue', 'true'], environment }];
  const alone = summarize(timeInTurn(lab, RUNS, enqueue)[0]!, 'ms');
  const start = performance.now();
  const pruner = spawn(lab.queuectl, ['prune', '--quiet'], {
    env: { ...lab.environment, ...environment },
    stdio: 'ignore',
  });
  const ended = once(pruner, 'exit');
  const beside = summarize(timeInTurn(lab, RUNS, enqueue)[0]!, 'ms');
  if (pruner.exitCode !== null) throw new Error('the prune was over before it could be measured');
  await ended;
  return [
    { name: 'prune', what: 'enqueue, 1,000,000 finished jobs', value: alone },
    {
      ...{ name: 'prune', what: 'enqueue while 500,000 are pruned', value: beside },
      ...{ ratio: beside.median / alone.median },
    },
    { name: 'prune', what: 'the prune itself', value: summarize([performance.now() - start], 'ms') },
  ];
}
