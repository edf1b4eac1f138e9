import type { Lab } from './lab.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';

/** Returns a row for each contender. The first one is queuectl. */
export function rowsOf(
  name: string,
  contenders: { what: string; run: unknown }[],
  times: number[][],
  rateOf: (ms: number) => number,
): Row[] {
  const values = times.map((ms) => (ms.length === 0 ? null : summarize(ms.map(rateOf), 'jobs/s')));
  return contenders.map(({ what }, i): Row => {
    const value = values[i]!;
    if (value === null) return { name, what, value, skipped: 'not installed' };
    return i === 0 ? { name, what, value } : { name, what, value, ratio: values[0]!.median / value.median };
  });
}

/** GNU parallel runs each line with this shell, and keeps its files here. */
export function toolVariables(lab: Lab): Record<string, string> {
  return { PARALLEL_SHELL: '/bin/sh', PARALLEL_HOME: lab.directory };
}
