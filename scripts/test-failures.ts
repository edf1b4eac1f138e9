const RESULT = /^\((pass|skip|fail)\) /;

/** Returns the output of `bun test` without what belongs to tests that passed or were skipped. */
export function withoutPassedTests(output: string): string {
  const kept: string[] = [];
  let current: string[] = [];
  for (const line of output.split('\n')) {
    current.push(line);
    const result = RESULT.exec(line)?.[1];
    if (result === undefined) continue;
    if (result === 'fail') kept.push(...current);
    current = [];
  }
  // The rest belongs to no test: the totals, or the output of a run that was cut short.
  return [...kept, ...current].join('\n');
}

/** Returns the name of each failed test, with the first line of its error before it. */
export function failedTests(output: string): string[] {
  return withoutPassedTests(output)
    .split('\n')
    .filter((line) => line.startsWith('error: ') || line.startsWith('(fail) '));
}
