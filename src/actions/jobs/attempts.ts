import { signalOf } from '../../core/rules/decide.ts';
import { toIso } from '../../core/time/time.ts';
import type { AttemptObject } from '../../core/wire/wire.ts';
import { NO_GROUP, processes } from '../../exec/processes.ts';
import { filesOfAttempt } from '../../state/attempt-files.ts';
import type { Attempt } from '../../store/contract/jobs.ts';
import type { App } from '../app.ts';
import { fileOnOtherHost, writtenBytes } from '../output/outputs.ts';

/** An attempt with what the store cannot know. */
export interface CurrentAttempt extends Attempt {
  /** The path of the file with the output on another host. Null if the output is here or in the store. */
  outputFile: string | null;
}

export function toAttemptObject(attempt: CurrentAttempt): AttemptObject {
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
    output_host: attempt.outputFile === null ? null : attempt.otherHost,
    output_file: attempt.outputFile,
    left_behind: attempt.leftBehind,
  };
}

/**
 * Adds what the store cannot know: how much a running attempt has written so far, which processes of the command of a
 * successful one are still running on this machine, and the path of its output on another host.
 */
export function withCurrentFacts(app: App, attempts: Attempt[]): CurrentAttempt[] {
  return attempts.map((stored) => {
    const attempt = { ...stored, outputFile: fileOnOtherHost(app, stored, 'stdout') };
    if (attempt.finishedAt === null) return { ...attempt, outputBytes: writtenBytes(app, attempt) };
    if (attempt.why !== 'exited' || attempt.exitCode !== 0 || attempt.otherHost !== null) return attempt;
    // The worker may have missed some processes, because it scans all processes only if the command's process group is not empty.
    const { cookie } = filesOfAttempt(app, attempt.number);
    const running = processes.find({ group: NO_GROUP, cookie }).map((one) => one.pid);
    return { ...attempt, leftBehind: [...new Set([...attempt.leftBehind, ...running])] };
  });
}
