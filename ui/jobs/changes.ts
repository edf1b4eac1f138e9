import { command } from '../frame/cli.ts';
import { exactDuration } from '../parts/format.ts';
import type { Job } from '../types.ts';
import { JOB_FORM } from '../words/job.ts';
import { SHARED } from '../words/shared.ts';

/** The fields of a waiting job that can be changed, with their flags of `edit`. */
export const CHANGEABLE = {
  command: { flag: 'command', label: SHARED.command, hint: '' },
  queue: { flag: 'set-queue', label: SHARED.queue, hint: '' },
  priority: { flag: 'priority', label: SHARED.priority, hint: SHARED.priorityHint },
  run_at: { flag: 'run-at', label: JOB_FORM.runAt, hint: JOB_FORM.runAtHint },
  timeout: { flag: 'timeout', label: SHARED.timeout, hint: SHARED.timeoutHint },
  max_retries: { flag: 'max-retries', label: SHARED.maxAttempts, hint: '' },
  name: { flag: 'set-name', label: SHARED.name, hint: '' },
} as const;
export type Changeable = keyof typeof CHANGEABLE;
export type EditableFields = Record<Changeable, string>;

export function editableFields(job: Job): EditableFields {
  return {
    command: job.command,
    queue: job.queue,
    priority: String(job.priority),
    run_at: job.run_at ?? '',
    timeout: job.timeout_ms === null ? '' : exactDuration(job.timeout_ms),
    max_retries: String(job.max_retries),
    name: job.name ?? '',
  };
}

/** Returns the fields that were changed. An empty field is left out, because fields can be set but not removed. */
function changedFields(before: EditableFields, after: EditableFields): Changeable[] {
  const fields = Object.keys(CHANGEABLE) as Changeable[];
  return fields.filter((field) => after[field] !== before[field] && after[field].trim() !== '');
}

export function changesOf(before: EditableFields, after: EditableFields): Record<string, unknown> {
  const whole = (text: string): number | string => (/^\s*-?\d+\s*$/.test(text) ? Number(text) : text);
  return Object.fromEntries(
    changedFields(before, after).map((field) => [
      field,
      field === 'priority' || field === 'max_retries' ? whole(after[field]) : after[field],
    ]),
  );
}

export function editCommand(id: string, before: EditableFields, after: EditableFields): string {
  const flags = changedFields(before, after).flatMap((field) => [
    `--${CHANGEABLE[field].flag}`,
    after[field],
  ]);
  return command('edit', id, ...flags);
}
