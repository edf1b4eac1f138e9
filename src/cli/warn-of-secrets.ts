import type { JobInput } from '../core/job-input.ts';
import { secretWarning } from '../core/secrets.ts';
import type { Io } from './io.ts';
import { printable } from './text.ts';

/** Warns about the first secret in these jobs, before anything is stored. */
export function warnOfSecrets(io: Io, jobs: JobInput[]): void {
  const warning = jobs.map(secretWarning).find((one) => one !== null);
  if (warning !== undefined) io.warn(printable(warning));
}
