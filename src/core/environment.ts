import { invalid } from './read-value.ts';

/** Throws if the name is invalid, or if only queuectl may set the variable. */
export function checkVariableName(name: string, what: string): void {
  if (!/^[^=\0\s]+$/.test(name)) throw invalid(`${what}: '${name}' is not a valid variable name`);
  // QUEUECTL_SCHEDULE and QUEUECTL_SCHEDULED_AT are allowed, so that a printed job of a schedule can be enqueued again.
  if (/^QUEUECTL_(?!SCHEDULE(D_AT)?$)/.test(name))
    throw invalid(`${what}: ${name} cannot be set, because queuectl sets it itself`);
}

/** Reads names of variables: an array, or a text such as `A,B`. Returns each name once, or undefined for an empty array. */
export function readSecretEnv(value: unknown, what: string): string[] | undefined {
  const parts = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(parts) || parts.some((part) => typeof part !== 'string'))
    throw invalid(`${what} must be an array of variable names`);
  const names = parts.map((part: string) => part.trim());
  for (const name of names) {
    if (name.includes('='))
      throw invalid(`${what} takes variable names only; the values come from the worker's environment`);
    checkVariableName(name, what);
  }
  return names.length === 0 ? undefined : [...new Set(names)];
}
