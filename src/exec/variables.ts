/** The variable that makes a worker die at a crash point, for tests. Jobs do not inherit it. */
export const CRASH_AT_VARIABLE = 'QUEUECTL_CRASH_AT';

/**
 * The variable that tells a process of queuectl its store. It is not an argument, because every user of the machine can see
 * arguments, and the URL of a store may have a password. Jobs do not inherit it. They get QUEUECTL_DB if the user has set it.
 */
export const STORE_VARIABLE = 'QUEUECTL_WORKER_STORE';
