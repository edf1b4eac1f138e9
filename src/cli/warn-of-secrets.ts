import type { JobInput } from '../core/job-input.ts';
import { printable } from '../core/printable.ts';
import type { Io } from './io.ts';

/** Warns if jobs seem to contain secrets. Of several such jobs, only the first causes warnings. */
export async function warnOfSecrets(io: Io, jobs: JobInput[]): Promise<void> {
  const { secretWarnings } = await import('../core/secrets.ts');
  const warnings = jobs.map(secretWarnings).find((some) => some.length > 0) ?? [];
  for (const warning of warnings) io.warn(printable(warning));
}

/**
 * Tells whether `warnOfSecrets` might find a secret. Returns false for most jobs, for which nothing else needs to be loaded. A secret in
 * a command follows one of these characters.
 */
export function mayHoldSecrets(jobs: JobInput[]): boolean {
  for (const { command = '', argv, env, hooks } of jobs) {
    if (argv !== undefined || env !== undefined || hooks !== undefined) return true;
    if (command.includes('=') || command.includes('--') || command.includes(':')) return true;
  }
  return false;
}
