import { QueueError } from './errors.ts';
import { checkName } from './id.ts';
import { isNone } from './words.ts';

/** Labels are typed in commands and in lists with commas, so they need no quotes there. */
const LABEL_PATTERN = /^[\w.-]+$/;

/* A job may ask for a worker with a label, or for a host. The stored text is the label, or `host:NAME`. */

const HOST_PREFIX = 'host:';

/** Checks what a job asks for: a label or `host:NAME`. Returns null for `none`. */
export function checkRunsOn(text: string, what: string): string | null {
  if (isNone(text)) return null;
  if (text === HOST_PREFIX)
    throw new QueueError('invalid-job', `${what} needs the name of a host: host:NAME`);
  checkName(text, what);
  if (!text.startsWith(HOST_PREFIX) && !LABEL_PATTERN.test(text))
    throw new QueueError(
      'invalid-job',
      `${what}: '${text}' is not a valid label`,
      'use one label such as gpu (letters, digits, dots, dashes and underscores), or host:NAME',
    );
  return text;
}

/** Checks a label of a worker. */
export function checkLabel(text: string, what: string): string {
  if (!LABEL_PATTERN.test(text) || isNone(text))
    throw new QueueError(
      'invalid-value',
      `${what} must not be '${text}'`,
      'choose a label such as gpu (letters, digits, dots, dashes and underscores). Every worker takes the jobs that ask for its host',
    );
  return checkName(text, what);
}

/** Returns everything for which jobs may ask if a worker of this host, with these labels, is to take them. */
export const offersOf = (hostname: string, labels: readonly string[]): string[] => [
  `${HOST_PREFIX}${hostname}`,
  ...labels,
];

/** Tells how to start a worker that can take jobs which ask for this. */
export function howToStart(runsOn: string): string {
  const isHost = runsOn.startsWith(HOST_PREFIX);
  return isHost
    ? 'to start one, run there: queuectl worker start'
    : `to start one: queuectl worker start --label ${runsOn}`;
}

/** Describes a worker that can take jobs which ask for this, for example `worker with label gpu`. */
export function matchingWorker(runsOn: string): string {
  const isHost = runsOn.startsWith(HOST_PREFIX);
  return isHost ? `worker on host ${runsOn.slice(HOST_PREFIX.length)}` : `worker with label ${runsOn}`;
}
