import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, fail, ok, warn } from '../core/rules/finding.ts';
import { shellWord } from '../core/text/shell-quote.ts';
import { modeOf, type SafetyProblem } from '../files/own-files.ts';
import { namesIn } from '../files/read.ts';

/** Reports the problems, and warns of these files and those of a state directory that other users can read. */
export function permissionFindings(
  problems: SafetyProblem[],
  state: string,
  files: string[] = [],
): Finding[] {
  const findings = problems.map((one) => fail('permissions', one.problem, one.fix));
  // If the directory cannot be read, other findings report that.
  for (const one of [...files, state, ...namesIn(state).map((name) => join(state, name))]) {
    const stat = statSync(one, { throwIfNoEntry: false });
    if (stat === undefined || (stat.mode & 0o055) === 0) continue;
    const problem = `other users can read ${one} (${modeOf(stat)})`;
    findings.push(warn('permissions', problem, `chmod go= ${shellWord(one)}`));
  }
  if (findings.length > 0) return findings;
  return [ok('permissions', 'no other user can read, write or replace the files')];
}
