import { signalOf } from '../core/outcome.ts';
import { toIso } from '../core/time.ts';
import type { Attempt } from '../store/contract/jobs.ts';

/** An attempt as everybody outside sees it. */
export function toAttemptObject(attempt: Attempt) {
  return {
    attempt: attempt.ordinal,
    worker_id: attempt.workerId,
    started_at: toIso(attempt.startedAt),
    finished_at: toIso(attempt.finishedAt),
    duration_ms: attempt.durationMs,
    outcome: attempt.why,
    exit_code: attempt.exitCode,
    signal: signalOf(attempt.exitCode),
    error: attempt.error,
    output_bytes: attempt.outputBytes,
    output_truncated: attempt.truncated,
    left_behind: attempt.leftBehind,
  };
}
