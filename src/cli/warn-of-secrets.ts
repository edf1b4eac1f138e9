import type { JobInput } from '../core/job-input.ts';
import type { Io } from './io.ts';
import { printable } from './text.ts';

/** Warns if jobs seem to contain secrets. Of several such jobs, only the first causes warnings. */
export async function warnOfSecrets(io: Io, jobs: JobInput[]): Promise<void> {
  if (!jobs.some(mayHoldSecret)) return;
  const { secretWarnings } = await import('../core/secrets.ts');
  const warnings = jobs.map(secretWarnings).find((some) => some.length > 0) ?? [];
  for (const warning of warnings) io.warn(printable(warning));
}

/** Returns false for most jobs, for which nothing else needs to be loaded. A secret in a command follows one of these characters. */
function mayHoldSecret({ command = '', argv, env, hooks }: JobInput): boolean {
  if (argv !== undefined || env !== undefined || hooks !== undefined) return true;
  return command.includes('=') || command.includes('--') || command.includes(':');
}
