/** The message about a violated rule lists this many rows. */
const ROWS_PER_RULE = 5;

/** Returns the problem that rows break a rule, or nothing if there are none. */
export function problemsOfRule(rule: string, rows: string[]): string[] {
  if (rows.length === 0) return [];
  const shown = rows.slice(0, ROWS_PER_RULE).join(', ');
  const more = rows.length > ROWS_PER_RULE ? ` and ${rows.length - ROWS_PER_RULE} more` : '';
  return [`violated: ${rule} (${shown}${more})`];
}

export function uncheckedRule(rule: string, error: unknown): string {
  return `could not check that ${rule}: ${(error as Error).message}`;
}
