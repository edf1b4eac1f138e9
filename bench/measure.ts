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

/** The milliseconds of each run of each command. */
interface Times {
  wall: number[][];
  /** The CPU time of the command and of the processes that it has waited for. It hardly depends on other load. */
  cpu: number[][];
}

/** Runs the commands in turn, so that other load affects all of them. Returns the milliseconds of each. */
export function timeInTurn(lab: Lab, runs: number, commands: TimedCommand[]): number[][] {
  return measureInTurn(lab, runs, commands).wall;
}

/** Runs the commands like `timeInTurn`. Returns their CPU times, too. */
export function measureInTurn(lab: Lab, runs: number, commands: TimedCommand[]): Times {
  return lab.tools === null
    ? timeWithoutTool(lab, runs, commands)
    : timeByTool(lab, lab.tools.times, runs, commands);
}

function timeByTool(lab: Lab, tool: string, runs: number, commands: TimedCommand[]): Times {
  const words = commands.flatMap(({ command, environment, fresh, stamp }, i) => [
    ...(i === 0 ? [] : [':::']),
    ...Object.entries(environment ?? {}).map(([name, value]) => `${name}=${value}`),
    ...(fresh === undefined ? [] : [`-fresh=${fresh}`]),
    ...(stamp === undefined ? [] : [`-stamp=${stamp}`]),
    ...command,
  ]);
  return readTimes(runOrThrow(lab, [tool, String(runs), ...words]), commands.length);
}

/** Reads the output of the C tool `times` for some commands. */
export function readTimes(output: string, commands: number): Times {
  const lines = output.trim().split('\n');
  const times = lines.map((line) => line.split(' ').map((ns) => Number(ns) / 1e6));
  return { wall: times.slice(0, commands), cpu: times.slice(commands) };
}

/** Measures without the C tool, so each time includes this runtime's cost of a start. Ignores `fresh` and `stamp`. */
function timeWithoutTool(lab: Lab, runs: number, commands: TimedCommand[]): Times {
  const times: Times = { wall: commands.map(() => []), cpu: commands.map(() => []) };
  for (let run = 0; run < runs; run++) {
    for (const [i, { command, environment }] of commands.entries()) {
      const start = performance.now();
      const env = { ...lab.environment, ...environment };
      const { exitCode, resourceUsage } = Bun.spawnSync(command, { cwd: lab.directory, env });
      if (exitCode !== 0) throw new Error(`${command[0]}: exit code ${exitCode}`);
      times.wall[i]!.push(performance.now() - start);
      times.cpu[i]!.push(Number(resourceUsage.cpuTime.total) / 1000);
    }
  }
  return times;
}

/** Returns the times of each command from all batches. */
export function joinBatches(batches: number[][][]): number[][] {
  return batches[0]!.map((_, i) => batches.flatMap((batch) => batch[i]!));
}
