import { type Lab, must } from './lab.ts';

export interface Timed {
  command: string[];
  environment?: Record<string, string>;
  /** Removed before each run. */
  fresh?: string;
  /** Measured up to the time that `stamp` notes in this file, instead of up to the command's end. */
  stamp?: string;
}

/** Runs the commands in turn, so that a burst of other load meets all of them, and answers the milliseconds of each. */
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

/** Without a C compiler: dearer by this runtime's own spawn, for all of them alike. */
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

/** For a benchmark that measures in batches: the batches of each command joined. */
export function joined(batches: number[][][]): number[][] {
  return batches[0]!.map((_, i) => batches.flatMap((batch) => batch[i]!));
}
