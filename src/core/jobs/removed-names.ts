import { shellWord } from '../text/shell-quote.ts';
import { kebab } from './field.ts';

/** Says what to use in place of a name that queuectl once had. Ignoring such a name could run a job in the wrong place. */
interface RemovedName {
  message: string;
  hint: string;
}

const LABEL_NAMES = ['on', 'runs-on', 'label', 'labels'];
const AGING_NAME = 'priority-aging';
const AGING_HINT =
  'give jobs that must not wait for others a queue of their own, and start a worker for it: queuectl worker start --queue NAME';

/** Returns what to use in place of a removed field of an object or option of a method. Null for any other name. */
export function removedField(name: string, value: unknown): RemovedName | null {
  if (kebab(name) === AGING_NAME) return { message: `'${name}' is not supported`, hint: AGING_HINT };
  if (!LABEL_NAMES.includes(kebab(name))) return null;
  const queue = typeof value === 'string' || Array.isArray(value) ? String(value) : 'gpu';
  return {
    message: `'${name}' is not supported: a label is a queue`,
    hint: `use the queue '${queue}', and start a worker with --queue ${shellWord(queue)}`,
  };
}

/** Does the same for a flag of a command that has `flags`. */
export function removedFlag(name: string, value = 'gpu', flags: object = {}): RemovedName | null {
  if (name === AGING_NAME) return { message: `--${name} is not supported`, hint: AGING_HINT };
  if (!LABEL_NAMES.includes(name)) return null;
  const message = `--${name} is not supported: a label is a queue`;
  const queue = shellWord(value);
  const isEdit = 'set-queue' in flags;
  if ('state' in flags && !isEdit) return { message, hint: `use --queue ${queue}, or --name ${queue}` };
  return {
    message,
    hint: `use --${isEdit ? 'set-queue' : 'queue'} ${queue}, and start a worker with --queue ${queue}`,
  };
}

/** Returns what the user should know about the move of jobs or schedules with these labels to queues. Empty if there are none. */
export const movedLabelsNotes = (labels: readonly string[]): string[] =>
  labels.length === 0
    ? []
    : [
        `jobs and schedules with a label are now in the queue of that name (${labels.join(', ')}). To run them: queuectl worker start --queue ${shellWord(labels.join(','))}. A worker without --queue runs them, too`,
      ];

/** Returns what the user should know about these queues, whose waiting jobs no longer gain priority. Empty if there are none. */
export const endedAgingNotes = (queues: readonly string[]): string[] =>
  queues.length === 0
    ? []
    : [
        `waiting jobs no longer gain priority (${queues.map((name) => `queue ${name}`).join(', ')}). Instead, ${AGING_HINT}`,
      ];
