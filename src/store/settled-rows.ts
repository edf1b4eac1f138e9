import type { Transition } from '../core/rules/decide.ts';
import type { Settlement } from './contract/claims.ts';

/** Returns the new values of the row of a job whose attempt is settled. */
export function rowAfter(transition: Transition, at: number) {
  switch (transition.to) {
    case 'completed':
    case 'dead':
    case 'cancelled':
      return { state: transition.to, phase: 'ended', dueAt: null, finishedAt: at };
    case 'failed':
      return { state: 'failed', phase: 'waiting', dueAt: transition.nextRunAt, finishedAt: null };
    case 'released':
      return { state: 'pending', phase: 'ready', dueAt: at, finishedAt: null };
  }
}

/** Returns the settlement of an attempt that a user cancelled: the job is cancelled instead of retried. */
export function withoutRetry(settlement: Settlement): Settlement {
  const { to, attempts, crashes } = settlement.transition;
  // A stop makes an at-most-once job dead. If somebody cancelled it, it is cancelled instead.
  const isStopped = to === 'dead' && settlement.why === 'stopped';
  if (to !== 'failed' && to !== 'released' && !isStopped) return settlement;
  return { ...settlement, transition: { to: 'cancelled', attempts, crashes }, hooks: [] };
}
