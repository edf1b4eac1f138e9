import { type Lab, must } from './lab.ts';

export interface Timed {
  command: string[];
  environment?: Record<string, string>;
  /** This file is removed before each run. */
  fresh?: string;
  /** Measures until the time that `stamp` writes to this file, instead of the end of the command. */
  stamp?: string;
}

/** Runs the commands in turn, so that other load affects all of them. Returns the milliseconds of each. */
export function timeInTurn(lab: Lab, runs: number, commands: Timed[]): number[][] {
  return lab.tools === null
    ? timeHere(lab, runs, commands)
    : timeByTool(lab, lab.tools.times, runs, commands);
}

function timeByTool(lab: Lab, tool: string, runs: number, commands: Timed[]): number[][] {
  const words = commands.flatMap(({ command, environment, fresh, stamp }, i) => [
    ...(i === 0 ? [] : [':::']),
    ...Object.entries(environment ?? {}).map(([name, value]) => `${name}=${value}`),
    ...(fresh === undefined ? [] : [`-fresh=${fresh}`]),
    ...(stamp === undefined ? [] : [`-stamp=${stamp}`]),
    ...command,
  ]);
  const lines = must(lab, [tool, String(runs), ...words])
    .trim()
    .split('\n');
  return lines.map((line) => line.split(' ').map((ns) => Number(ns) / 1e6));
}

/** Measures without the C tool. Each time includes the cost of starting a process from this runtime. */
function timeHere(lab: Lab, runs: number, commands: Timed[]): number[][] {
  const times = commands.map((): number[] => []);
  for (let run = 0; run < runs; run++) {
    for (const [i, { command, environment }] of commands.entries()) {
      const start = performance.now();
      must(lab, command, environment);
      times[i]!.push(performance.now() - start);
    }
  }
  return times;
}

/** Returns the times of each command from all batches. */
export function joinBatches(batches: number[][][]): number[][] {
  return batches[0]!.map((_, i) => batches.flatMap((batch) => batch[i]!));
}
