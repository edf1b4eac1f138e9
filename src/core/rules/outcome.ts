import { NO_RESULT_CODE } from '../errors.ts';
import type { EndReason, Job } from '../jobs/job.ts';
import { signalName } from '../signals.ts';
import { errorLine } from '../text/error-line.ts';
import { maskUrls } from '../text/mask.ts';
import { withoutControls } from '../text/printable.ts';
import { formatDuration } from '../time/duration.ts';

/** How an attempt ended. */
export type Outcome =
  /** The command ended by itself. If signal n killed it, the code is 128+n, as in a shell. */
  | { why: 'exited'; code: number }
  /** queuectl ended the command. `byGuard` tells that the guard did it, because the host could not renew its lease. */
  | { why: EndReason; byGuard?: true }
  /** The command could not be started, and an immediate retry would not help. */
  | { why: 'spawn-error'; message: string }
  /** The command was not started: its worker died first, another process took the gate, or no process could be created. */
  | { why: 'never-started' }
  /** The command may have been started. It is certain that it no longer runs, and it left no exit code. */
  | { why: 'lost' };

const TIMEOUT_CODE = 124;
const CANCELLED_CODE = 130;
const MAX_ERROR_LENGTH = 512;

/** Returns the exit code of an attempt, or null if it has none. A timeout has 124, like that of the program `timeout`. */
export function exitCodeOf(outcome: Outcome): number | null {
  if (outcome.why === 'exited') return outcome.code;
  return outcome.why === 'timeout' ? TIMEOUT_CODE : null;
}

/** Returns the exit code of a queuectl command that has waited for this job to end. */
export function exitCodeForJob(job: Pick<Job, 'state' | 'exitCode'>): number {
  if (job.state === 'completed') return 0;
  return job.state === 'cancelled' ? CANCELLED_CODE : job.exitCode || NO_RESULT_CODE;
}

/** Returns the signal that an exit code of 128+n stands for, or null. */
export function signalOf(exitCode: number | null): string | null {
  return exitCode === null || exitCode <= 128 ? null : signalName(exitCode - 128);
}

/** Returns one line for `last_error`: what happened, and the line of the output that tells why. Null if there is no error. */
export function describeOutcome(outcome: Outcome, timeoutMs: number | null, output: string): string | null {
  if (outcome.why === 'never-started' || (outcome.why === 'exited' && outcome.code === 0)) return null;
  // The output of a cancelled command does not explain why it was cancelled.
  const line = outcome.why === 'cancelled' ? '' : errorLine(output);
  const what = whatHappened(outcome, timeoutMs, line);
  const text = maskUrls(withoutControls(line === '' ? what : `${what}: ${line}`).trim());
  if (text.length <= MAX_ERROR_LENGTH) return text;
  // The cut may split a surrogate pair, whose first half is then removed.
  return `${text.slice(0, MAX_ERROR_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

type Failure = Exclude<Outcome, { why: 'never-started' }>;

function whatHappened(outcome: Failure, timeoutMs: number | null, line: string): string {
  switch (outcome.why) {
    case 'exited':
      return exitText(outcome.code, line);
    case 'timeout':
      return timeoutMs === null ? 'timed out' : `timed out after ${formatDuration(timeoutMs)}`;
    case 'spawn-error':
      return outcome.message;
    case 'cancelled':
      return 'cancelled while running';
    case 'stopped':
      return outcome.byGuard
        ? 'stopped because its host could not renew its lease'
        : 'stopped with its worker';
    case 'lost':
      return 'lost: the command was killed together with its worker, or its machine restarted or was cut off';
  }
}

/** A shell exits with 126 or 127 for other reasons, too. So the meaning is left out if the output gives another reason. */
function exitText(code: number, line: string): string {
  if (code === 126 && isReason(line, NOT_EXECUTABLE)) return 'exit code 126 (not executable)';
  if (code === 127 && isReason(line, NOT_FOUND)) return 'exit code 127 (command not found)';
  const signal = signalOf(code);
  return signal === null ? `exit code ${code}` : `killed by ${signal} (exit code ${code})`;
}

const NOT_FOUND = /not found|no such file|unknown command/i;
const NOT_EXECUTABLE = /permission denied|cannot execute|exec format|is a directory|not executable/i;
const isReason = (line: string, reason: RegExp): boolean => line === '' || reason.test(line);
