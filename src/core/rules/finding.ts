/** The result of one check of `doctor`. */
export interface Finding {
  check: string;
  status: 'ok' | 'warn' | 'fail';
  says: string;
  /** The command to run, or another instruction. Null if nothing needs to be done. */
  fix: string | null;
}

const finding =
  (status: Finding['status']) =>
  (check: string, says: string, fix: string | null = null): Finding => ({ check, status, says, fix });

/* These functions return a finding with the status of their name. */
export const ok = finding('ok');
export const warn = finding('warn');
export const fail = finding('fail');
