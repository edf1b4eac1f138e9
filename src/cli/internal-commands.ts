/** The internal command that completion scripts call (cli/complete.ts). */
export const COMPLETE_COMMAND = '__complete';

/** The internal command with which a supervisor starts its workers. */
export const WORKER_PROCESS = '__worker';

/** The internal command with which a supervisor starts its guard. */
export const GUARD_PROCESS = '__guard';
