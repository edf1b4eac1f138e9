import type { JobInput } from '../core/job-input.ts';
import { secretWarnings } from '../core/secrets.ts';
import type { Io } from './io.ts';
import { printable } from './text.ts';

/** Warns if jobs seem to contain secrets. Of several such jobs, only the first causes warnings. */
export function warnOfSecrets(io: Io, jobs: JobInput[]): void {
  const warnings = jobs.map(secretWarnings).find((some) => some.length > 0) ?? [];
  for (const warning of warnings) io.warn(printable(warning));
}
