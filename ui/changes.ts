import { command } from './cli.ts';
import type { Job } from './types.ts';

/** What can be changed of a job that waits, as a person writes it: the flag of `edit`, the field of the API. */
export const CHANGEABLE = {
  command: { flag: 'command', label: 'Command', hint: '' },
  queue: { flag: 'set-queue', label: 'Queue', hint: '' },
  priority: { flag: 'priority', label: 'Priority', hint: '0; or low, high, urgent' },
  run_at: { flag: 'run-at', label: 'Not before', hint: '+10m, 2030-01-31T09:00:00Z' },
  timeout: { flag: 'timeout', label: 'Timeout', hint: '30s, 5m' },
  max_retries: { flag: 'max-retries', label: 'Executions in all', hint: '' },
  name: { flag: 'set-name', label: 'Name', hint: '' },
} as const;
export type Changeable = keyof typeof CHANGEABLE;
export type Written = Record<Changeable, string>;

export function writtenOf(job: Job): Written {
  return {
    ...{ command: job.command, queue: job.queue, priority: String(job.priority), run_at: job.run_at ?? '' },
    timeout: job.timeout_ms === null ? '' : `${job.timeout_ms}ms`,
    ...{ max_retries: String(job.max_retries), name: job.name ?? '' },
  };
}

/** What was changed, and to something: a field cannot be taken away, only set. */
function changed(before: Written, after: Written): Changeable[] {
  const fields = Object.keys(CHANGEABLE) as Changeable[];
  return fields.filter((field) => after[field] !== before[field] && after[field].trim() !== '');
}

export function changesOf(before: Written, after: Written): Record<string, unknown> {
  const whole = (text: string): number | string => (/^\s*-?\d+\s*$/.test(text) ? Number(text) : text);
  return Object.fromEntries(
    changed(before, after).map((field) => [
      field,
      field === 'priority' || field === 'max_retries' ? whole(after[field]) : after[field],
    ]),
  );
}

export function editCommand(id: string, before: Written, after: Written): string {
  const flags = changed(before, after).flatMap((field) => [`--${CHANGEABLE[field].flag}`, after[field]]);
  return command('edit', id, ...flags);
}
