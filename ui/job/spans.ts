import type { Attempt, Job } from '../types.ts';
import { OUTCOMES, TIMELINE } from '../words/job.ts';

/** A period in the life of a job. */
export interface Span {
  kind: 'scheduled' | 'waiting' | 'running' | 'completed' | 'failed' | 'backoff';
  from: number;
  to: number;
  label: string;
  attempt: number | null;
}

/** Splits the life of a job into periods, up to its end, now or the next retry. Clocks of two machines may differ. */
export function spansOf(job: Job, attempts: Attempt[], now: number): Span[] {
  const spans: Span[] = [];
  let at = Date.parse(job.created_at);
  const until = (to: number, kind: Span['kind'], label: string, attempt: number | null = null): void => {
    if (to > at) spans.push({ kind, from: at, to, label, attempt });
    at = Math.max(at, to);
  };
  const due = job.run_at === null ? at : Date.parse(job.run_at);
  const waits = job.state === 'pending' || job.state === 'failed';
  const end = waits ? due : now;
  const first = attempts[0] === undefined ? end : Date.parse(attempts[0].started_at);
  until(Math.min(due, first), 'scheduled', TIMELINE.notDue);
  attempts.forEach((one, i) => {
    const [before, text] = beforeAttempt(i);
    until(Date.parse(one.started_at), before, text);
    const end = one.finished_at === null ? now : Date.parse(one.finished_at);
    const kind =
      one.finished_at === null
        ? 'running'
        : one.outcome === 'exited' && one.exit_code === 0
          ? 'completed'
          : 'failed';
    until(end, kind, TIMELINE.attempt(one.attempt, outcomeText(one)), one.attempt);
  });
  if (waits) {
    const next = job.next_run_at === null ? now : Math.max(now, Date.parse(job.next_run_at));
    until(next, ...beforeAttempt(attempts.length));
  }
  return spans;
}

const beforeAttempt = (index: number): [Span['kind'], string] =>
  index === 0 ? ['waiting', TIMELINE.waiting] : ['backoff', TIMELINE.backoff];

/** Describes how an attempt ended. */
export function outcomeText({ outcome, exit_code, signal }: Attempt): string {
  if (outcome === null) return OUTCOMES.running;
  if (outcome !== 'exited') return OUTCOMES.others[outcome] ?? outcome;
  return signal ? OUTCOMES.killed(signal) : OUTCOMES.exited(exit_code ?? 0);
}
