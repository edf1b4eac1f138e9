import { Ago } from '../parts/time.tsx';
import type { Job } from '../types.ts';
import { SHARED } from '../words/shared.ts';

/** Shows why a job is not running, or when it is due if only that keeps it waiting. */
export function Waiting({ job }: { job: Pick<Job, 'waiting_for' | 'next_run_at'> }) {
  const { waiting_for: reason, next_run_at: next } = job;
  if (reason === null) return null;
  const isTimed = reason === 'scheduled' || reason === 'retrying';
  const text = SHARED.reasons[reason];
  const urgent = reason === 'no_worker' || reason === 'queue_paused';
  return (
    <span class={urgent ? 'reason warn' : 'reason'} title={text}>
      {isTimed && next !== null ? <Ago at={next} /> : text}
    </span>
  );
}
