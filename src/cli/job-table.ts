import { attemptsAllowed, attemptsUsed } from '../core/decide.ts';
import type { Job } from '../core/job.ts';
import { maskUrls } from '../core/mask.ts';
import { signalOf } from '../core/outcome.ts';
import { type JobWithReason, reasonTextOf } from '../core/waiting-reason.ts';
import type { Column } from './table.ts';
import { type Color, STATE_COLORS } from './text.ts';
import type { TimeFormat } from './times.ts';

export function jobColumns(times: TimeFormat): Column<JobWithReason>[] {
  return [
    { title: 'ID', value: (job) => job.id, shortens: true },
    { title: 'STATE', value: (job) => job.state, color: (job) => STATE_COLORS[job.state] },
    {
      title: 'WAITING FOR',
      alignedOnly: true,
      drop: 0,
      value: (job) => waitingText(job, times.text),
      color: waitingColor,
    },
    { title: 'QUEUE', value: (job) => job.queue, drop: 1, shortens: true },
    { title: 'NAME', value: (job) => job.name ?? '', drop: 3, alignedOnly: true },
    { title: 'PRIORITY', value: (job) => String(job.priority), drop: 5 },
    { title: 'ATTEMPTS', drop: 2, value: (job) => `${attemptsUsed(job)}/${attemptsAllowed(job)}` },
    { title: 'CREATED', value: (job) => times.text(job.createdAt), drop: 4 },
    {
      title: 'DUE',
      value: (job) => (job.blocked || job.held ? '' : times.text(job.dueAt)),
      scriptsOnly: true,
    },
    { title: 'COMMAND', value: (job) => maskUrls(job.command), shrinks: true },
    { title: 'WAITING FOR', value: (job) => job.waitingFor ?? '', scriptsOnly: true },
  ];
}

/** Returns why a job waits, or when it is due if it only waits for that time. Empty if the job does not wait. */
export function waitingText(job: JobWithReason, timeText: TimeFormat['text']): string {
  const { waitingFor, dueAt } = job;
  return waitingFor === 'scheduled' || waitingFor === 'retrying' ? timeText(dueAt) : reasonTextOf(job);
}

/** Highlights the reasons that stop a whole queue until somebody acts. */
export function waitingColor({ waitingFor }: JobWithReason): Color | undefined {
  return waitingFor === 'queue_paused' || waitingFor === 'no_worker' ? 'yellow' : undefined;
}

export function deadColumns(times: TimeFormat): Column<Job>[] {
  return [
    { title: 'ID', value: (job) => job.id, shortens: true },
    { title: 'QUEUE', value: (job) => job.queue, drop: 2, shortens: true },
    { title: 'ATTEMPTS', value: (job) => `${job.attempts}/${attemptsAllowed(job)}`, drop: 1 },
    { title: 'EXIT', value: exitText },
    { title: 'DEAD SINCE', value: (job) => times.text(job.finishedAt), drop: 3 },
    { title: 'COMMAND', value: (job) => maskUrls(job.command), shrinks: true },
    { title: 'LAST ERROR', value: (job) => job.lastError ?? '', shrinks: true, drop: 0 },
  ];
}

/** Returns the name of the signal that ended the job, or else the exit code, or `-` if there is none. */
export function exitText(job: { exitCode: number | null }): string {
  return signalOf(job.exitCode) ?? (job.exitCode === null ? '-' : String(job.exitCode));
}

/** Returns the signal or exit code in parentheses, to append to a sentence. Empty for exit code 0 or none. */
export function exitNote(job: { exitCode: number | null }): string {
  if (job.exitCode === null || job.exitCode === 0) return '';
  return ` (${signalOf(job.exitCode) ?? `exit ${job.exitCode}`})`;
}
