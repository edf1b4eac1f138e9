import type { State } from '../../core/jobs/job.ts';
import { type JobKey, type JobScan, nothing, type Steps } from '../steps.ts';

const WAITING_PHASES = ['ready', 'waiting', 'held', 'blocked'];
/** The phases that a job in each state may have. */
const PHASES: Record<State, string[]> = {
  ...{ pending: WAITING_PHASES, failed: WAITING_PHASES, processing: ['running'] },
  ...{ completed: ['ended'], dead: ['ended'], cancelled: ['ended'] },
};

/** One index has the jobs of each queue, state and phase in order. */
export function scansOf(keys: JobKey[]): Steps<JobScan[]> {
  const each = keys.flatMap(({ queue, state, phase }) =>
    (phase === undefined ? PHASES[state] : [phase]).map((one) => ({ queue, state, phase: one })),
  );
  const scan: JobScan = {
    index: 'job_by_queue',
    columns: ['queue', 'state', 'phase'],
    where: '',
    keys: each,
  };
  return nothing(each.length === 0 ? [] : [scan]);
}
