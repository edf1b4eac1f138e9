import { type Lab, runOrThrow } from './lab.ts';

/** A command to measure. */
export interface TimedCommand {
  command: string[];
  environment?: Record<string, string>;
  /** This file is removed before each run. */
  fresh?: string;
  /** Measures until the time that `stamp` writes to this file, instead of the end of the command. */
  stamp?: string;
}

/** Runs the commands in turn, so that other load affects all of them. Returns the milliseconds of each. */
export function timeInTurn(lab: Lab, runs: number, commands: TimedCommand[]): number[][] {
  return lab.tools === null
    ? timeWithoutTool(lab, runs, commands)
    : timeByTool(lab, lab.tools.times, runs, commands);
}

function timeByTool(lab: Lab, tool: string, runs: number, commands: TimedCommand[]): number[][] {
  const words = commands.flatMap(({ command, environment, fresh, stamp }, i) => [
    ...(i === 0 ? [] : [':::']),
    ...Object.entries(environment ?? {}).map(([name, value]) => `${name}=${value}`),
    ...(fresh === undefined ? [] : [`-fresh=${fresh}`]),
    ...(stamp === undefined ? [] : [`-stamp=${stamp}`]),
    ...command,
  ]);
  const lines = runOrThrow(lab, [tool, String(runs), ...words])
    .trim()
    .split('\n');
  return lines.map((line) => line.split(' ').map((ns) => Number(ns) / 1e6));
}

/** Measures without the C tool, so each time includes this runtime's cost of a start. Ignores `fresh` and `stamp`. */
function timeWithoutTool(lab: Lab, runs: number, commands: TimedCommand[]): number[][] {
  const times = commands.map((): number[] => []);
  for (let run = 0; run < runs; run++) {
    for (const [i, { command, environment }] of commands.entries()) {
      const start = performance.now();
      runOrThrow(lab, command, environment);
      times[i]!.push(performance.now() - start);
    }
  }
  return times;
}

/** Returns the times of each command from all batches. */
export function joinBatches(batches: number[][][]): number[][] {
  return batches[0]!.map((_, i) => batches.flatMap((batch) => batch[i]!));
}
