/** The ways to stop a worker, strongest last: finish its jobs, leave them running, or stop them. */
export const STOP_ORDERS = ['drain', 'leave', 'force'] as const;
export type StopOrder = (typeof STOP_ORDERS)[number];
