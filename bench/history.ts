/** P5 measures how much a long history, or many urgent future jobs, slows down commands that do not need them. */
import { join } from 'node:path';
import { createStore, type Lab } from './lab.ts';
import { type TimedCommand, timeInTurn } from './measure.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';
import { seed } from './seed.ts';

const RUNS = 30;
/** The first store is the reference. */
const STORES = [
  { what: 'empty store', finished: 0, future: 0 },
  { what: '1,000,000 finished jobs', finished: 1_000_000, future: 0 },
  { what: '50,000 urgent future jobs', finished: 0, future: 50_000 },
];
/** In this order, `--drain` finds only the job that was just added. So it measures start-up, one claim and one run. */
const COMMANDS = [
  ['enqueue', 'true'],
  ['status'],
  ['list', '--limit', '20'],
  ['worker', 'start', '--drain', '--quiet'],
];

export function history(lab: Lab): Row[] {
  const homes = STORES.map(({ finished, future }, i) => {
    const home = lab.emptyDirectory(`p5-store-${i}`);
    createStore(lab, { QUEUECTL_HOME: home });
    seed(join(home, 'queue.db'), { finished, future });
    return home;
  });
  // All stores are measured in turn for each command, so that other load affects both sides of a ratio.
  const commands = COMMANDS.flatMap((args) =>
    homes.map(
      (home): TimedCommand => ({ command: [lab.queuectl, ...args], environment: { QUEUECTL_HOME: home } }),
    ),
  );
  timeInTurn(lab, 2, commands);
  const values = timeInTurn(lab, RUNS, commands).map((times) => summarize(times, 'ms'));
  return COMMANDS.flatMap((args, c) =>
    STORES.map(({ what }, s): Row => {
      const value = values[c * STORES.length + s]!;
      const row: Row = { name: 'P5', what: `${args.join(' ')}, ${what}`, value };
      if (s === 0) return row;
      const ratio = value.median / values[c * STORES.length]!.median;
      return { ...row, ratio, target: { at: 'most', limit: 1.5 } };
    }),
  );
}
