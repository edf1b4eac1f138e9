import { command } from '../frame/cli.ts';
import { exactDuration } from '../parts/format.ts';
import type { Schedule } from '../types.ts';

/** A schedule as a form: every field is a text. An empty field is not sent. */
export interface ScheduleDraft {
  name: string;
  cron: string;
  timezone: string;
  every: string;
  overlap: string;
  catch_up: string;
  command: string;
  queue: string;
  priority: string;
  max_retries: string;
  timeout: string;
}

type Field = keyof ScheduleDraft;

/** Flags of `schedule add` and `schedule edit`, and whether they belong to the job. */
const FIELDS: Record<Exclude<Field, 'name' | 'command'>, { flag: string; ofJob: boolean }> = {
  cron: { flag: 'cron', ofJob: false },
  timezone: { flag: 'tz', ofJob: false },
  every: { flag: 'every', ofJob: false },
  overlap: { flag: 'overlap', ofJob: false },
  catch_up: { flag: 'catch-up', ofJob: false },
  queue: { flag: 'queue', ofJob: true },
  priority: { flag: 'priority', ofJob: true },
  max_retries: { flag: 'max-retries', ofJob: true },
  timeout: { flag: 'timeout', ofJob: true },
};
type Flagged = keyof typeof FIELDS;

const NEW: ScheduleDraft = {
  name: '',
  cron: '0 3 * * *',
  timezone: '',
  every: '',
  overlap: 'skip',
  catch_up: 'one',
  command: '',
  queue: '',
  priority: '',
  max_retries: '',
  timeout: '',
};

export function scheduleDraftOf(schedule: Schedule | 'new'): ScheduleDraft {
  if (schedule === 'new') return { ...NEW, timezone: new Intl.DateTimeFormat().resolvedOptions().timeZone };
  const { job } = schedule;
  const text = (value: number | null): string => (value === null ? '' : String(value));
  const time = (ms: number | null): string => (ms === null ? '' : exactDuration(ms));
  return {
    name: schedule.name,
    cron: schedule.cron ?? '',
    timezone: schedule.timezone ?? '',
    every: time(schedule.every_ms),
    overlap: schedule.overlap,
    catch_up: schedule.catch_up,
    command: schedule.command,
    queue: schedule.queue,
    priority: text(job.priority),
    max_retries: text(job.max_retries),
    timeout: time(job.timeout_ms),
  };
}

/** Returns the fields that differ from the schedule, or from the defaults. A time zone needs a cron expression. */
function changedFields(before: ScheduleDraft | null, after: ScheduleDraft): Flagged[] {
  return (Object.keys(FIELDS) as Flagged[]).filter((field) => {
    if (after[field].trim() === '') return false;
    if (field === 'timezone' && after.every !== '') return false;
    return after[field] !== (before ?? { ...NEW, cron: '' })[field];
  });
}

const isCommandChanged = (before: ScheduleDraft | null, after: ScheduleDraft): boolean =>
  after.command !== before?.command;

export const isChanged = (before: ScheduleDraft, after: ScheduleDraft): boolean =>
  changedFields(before, after).length > 0 || isCommandChanged(before, after);

/** Returns the fields of the request. `before` is null for a new schedule. */
export function bodyOf(before: ScheduleDraft | null, after: ScheduleDraft): Record<string, unknown> {
  const whole = (text: string): number | string => (/^\s*-?\d+\s*$/.test(text) ? Number(text) : text);
  const value = (field: Flagged): number | string =>
    field === 'priority' || field === 'max_retries' ? whole(after[field]) : after[field].trim();
  const pick = (ofJob: boolean) =>
    changedFields(before, after)
      .filter((field) => FIELDS[field].ofJob === ofJob)
      .map((field) => [field, value(field)]);
  const job = {
    ...Object.fromEntries(pick(true)),
    ...(isCommandChanged(before, after) ? { command: after.command } : {}),
  };
  return {
    ...(before === null ? { name: after.name.trim() } : {}),
    ...Object.fromEntries(pick(false)),
    ...(Object.keys(job).length === 0 ? {} : { job }),
  };
}

export function commandOf(before: ScheduleDraft | null, after: ScheduleDraft): string {
  const flags = changedFields(before, after).flatMap((field) => [
    `--${FIELDS[field].flag}`,
    after[field].trim(),
  ]);
  const words = isCommandChanged(before, after) ? ['--command', after.command] : [];
  return command(
    'schedule',
    before === null ? 'add' : 'edit',
    after.name.trim() || 'NAME',
    ...flags,
    ...words,
  );
}

/** Returns the path of a preview, or null if there is nothing to preview. */
export function timesQuery({ cron, timezone, every }: ScheduleDraft): string | null {
  const query = new URLSearchParams();
  if (every.trim() !== '') query.set('every', every.trim());
  else if (cron.trim() === '') return null;
  else {
    query.set('cron', cron.trim());
    if (timezone.trim() !== '') query.set('timezone', timezone.trim());
  }
  return `/times?${query}`;
}
