import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, fail, ok, warn } from '../core/rules/finding.ts';
import { formatBytes } from '../core/text/numbers.ts';
import { shellWord } from '../core/text/shell-quote.ts';
import { modeOf, type SafetyProblem } from '../files/own-files.ts';
import { namesIn } from '../files/read.ts';
import { SCHEMA_VERSION } from './schema/version.ts';

const LOW_DISK_BYTES = 256 * 1024 ** 2;
const FULL_DISK_BYTES = 16 * 1024 ** 2;
const FIX = 'free some disk space, or run queuectl prune';

/** Returns the finding of `doctor` about the free space on the disk of a directory. */
export function diskFinding(directory: string): Finding {
  const { bavail, bsize } = statfsSync(directory);
  const freeBytes = Number(bavail) * Number(bsize);
  const disk = `${formatBytes(freeBytes)} free`;
  if (freeBytes < FULL_DISK_BYTES) return fail('disk', disk, FIX);
  return freeBytes < LOW_DISK_BYTES ? warn('disk', disk, FIX) : ok('disk', disk);
}

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

export function schemaFinding(version: number): Finding {
  if (version === SCHEMA_VERSION) return ok('schema', `version ${version}`);
  if (version > SCHEMA_VERSION)
    return warn(
      'schema',
      `version ${version}; this version of queuectl has version ${SCHEMA_VERSION} and can still use it`,
      'upgrade queuectl on this host',
    );
  return warn(
    'schema',
    `version ${version}; this version of queuectl needs version ${SCHEMA_VERSION}`,
    'queuectl db migrate',
  );
}

/** Returns the finding of a check of the contents. It lists the first problems. */
export function problemsFinding(check: string, problems: string[], fix: string): Finding {
  return problems.length === 0
    ? ok(check, 'no problems found')
    : fail(check, problems.slice(0, 3).join('; '), fix);
}
