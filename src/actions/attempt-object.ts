import { signalOf } from '../core/outcome.ts';
import { toIso } from '../core/time.ts';
import type { AttemptObject } from '../core/wire.ts';
import type { Attempt } from '../store/contract/jobs.ts';

/** Converts an attempt for everybody outside. */
export function toAttemptObject(attempt: Attempt): AttemptObject {
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
