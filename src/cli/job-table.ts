import { attemptsAllowed } from '../core/decide.ts';
import type { Job } from '../core/job.ts';
import { maskUrls } from '../core/mask.ts';
import { signalOf } from '../core/outcome.ts';
import type { Column } from './table.ts';
import { STATE_COLORS } from './text.ts';
import type { TimeFormat } from './times.ts';

export function jobColumns(times: TimeFormat): Column<Job>[] {
  return [
    { title: 'ID', value: (job) => job.id },
    { title: 'STATE', value: (job) => job.state, color: (job) => STATE_COLORS[job.state] },
    { title: 'QUEUE', value: (job) => job.queue, drop: 1 },
    { title: 'NAME', value: (job) => job.name ?? '', drop: 2, terminal: true },
    { title: 'PRIORITY', value: (job) => String(job.priority), drop: 4 },
    { title: 'ATTEMPTS', value: (job) => `${job.attempts}/${attemptsAllowed(job)}`, drop: 0 },
    { title: 'CREATED', value: (job) => times.text(job.createdAt), drop: 3 },
    {
      title: 'DUE',
      drop: 2,
      value: (job) => (job.blocked ? '' : times.text(job.dueAt)),
      look: (job) => dueLook(job, times),
    },
    { title: 'COMMAND', value: (job) => maskUrls(job.command), shrinks: true },
  ];
}

function dueLook(job: Job, times: TimeFormat): string {
  if (job.held) return 'held';
  if (job.blocked) return 'blocked';
  return job.dueAt === null || job.dueAt <= times.now ? '' : times.text(job.dueAt);
}

export function deadColumns(times: TimeFormat): Column<Job>[] {
  return [
    { title: 'ID', value: (job) => job.id },
    { title: 'QUEUE', value: (job) => job.queue, drop: 2 },
    { title: 'ATTEMPTS', value: (job) => `${job.attempts}/${attemptsAllowed(job)}`, drop: 1 },
    { title: 'EXIT', value: exitText },
    { title: 'DEAD SINCE', value: (job) => times.text(job.finishedAt), drop: 3 },
    { title: 'COMMAND', value: (job) => maskUrls(job.command), shrinks: true },
    { title: 'LAST ERROR', value: (job) => job.lastError ?? '', shrinks: true, drop: 0 },
  ];
}

/** Returns the name of the signal that ended the job, or else the exit code. */
export function exitText(job: { exitCode: number | null }): string {
  return signalOf(job.exitCode) ?? (job.exitCode === null ? '-' : String(job.exitCode));
}

/** Returns the exit code or signal of a failure in parentheses, to append to a sentence. Empty without a failure. */
export function exitNote(job: { exitCode: number | null }): string {
  if (job.exitCode === null || job.exitCode === 0) return '';
  return ` (${signalOf(job.exitCode) ?? `exit ${job.exitCode}`})`;
}
