/** The orders to stop that a worker can get, strongest last. */
export const STOP_ORDERS = ['drain', 'leave', 'force'] as const;
export type StopOrder = (typeof STOP_ORDERS)[number];
