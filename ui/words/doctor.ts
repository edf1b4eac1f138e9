/** Texts of the doctor page. */
export const DOCTOR = {
  loading: 'Running the checks…',
  passed: (checks: string) => `All ${checks} passed`,
  found: (problems: string, checks: string) => `${problems} in ${checks}`,
  and: ' and ',
  failure: 'failure',
  warning: 'warning',
  check: 'Check',
  version: (version: string) => `, version ${version}`,
  again: 'Run again',
  result: 'Result',
  fix: 'Fix',
  /** Texts of the server that are abbreviations or names. */
  spellings: { sqlite: 'SQLite', wal: 'WAL', ok: 'OK' } as Record<string, string>,
  statuses: { ok: 'OK', warn: 'Warning', fail: 'Failed' },
};
